import { Readable, Writable } from 'node:stream';
import type { ContainerSession, StreamsWanted } from '../../ports/container-access.ts';
import type { OutputStream } from './program.ts';

export interface FakeSessionHooks {
  readonly onInput: (bytes: Uint8Array) => void;
  readonly onInputEnd: () => void;
}

/** The streams of a session with a process in memory, and what the engine's side of it hears. */
export class FakeSession {
  readonly session: ContainerSession;
  readonly #outputs: Readonly<Record<OutputStream, Readable | undefined>>;
  readonly #stdin: Writable | undefined;
  readonly #settle: { readonly resolve: (code: number | undefined) => void; readonly reject: (reason: unknown) => void };
  #over = false;

  constructor({ stdin, stdout, stderr, tty }: StreamsWanted, { onInput, onInputEnd }: FakeSessionHooks) {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    // A session that is not waited for may break as well.
    promise.catch(() => {});
    this.#settle = { resolve, reject };
    const output = (): Readable => new Readable({ read: () => {} }).on('error', () => {});
    this.#outputs = { stdout: stdout ? output() : undefined, stderr: stderr && !tty ? output() : undefined };
    this.#stdin = stdin
      ? new Writable({
          write: (chunk: Buffer, _encoding, done) => {
            onInput(chunk);
            done();
          },
          destroy: (_error, done) => {
            if (!this.#over) onInputEnd();
            done(null);
          },
          // Its end destroys it.
          autoDestroy: true,
        })
      : undefined;
    this.session = { stdin: this.#stdin, ...this.#outputs, resize: () => Promise.resolve(), ended: promise };
  }

  write(stream: OutputStream, bytes: Uint8Array): void {
    const output = this.#outputs[stream];
    if (!this.#over && output && !output.destroyed) output.push(bytes);
  }

  end(code: number | undefined): void {
    if (this.#over) return;
    this.#over = true;
    for (const output of Object.values(this.#outputs)) output?.push(null);
    this.#stdin?.destroy();
    this.#settle.resolve(code);
  }

  break(why: unknown): void {
    if (this.#over) return;
    this.#over = true;
    for (const output of Object.values(this.#outputs)) output?.destroy(why instanceof Error ? why : new Error(String(why)));
    this.#stdin?.destroy();
    this.#settle.reject(why);
  }
}
