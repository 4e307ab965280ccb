import { PassThrough } from 'node:stream';
import type { ContainerSession, StreamsWanted, TerminalSize } from '../../src/ports/container-access.ts';

/** A process whose streams the test holds. */
export class FakeSession implements ContainerSession {
  readonly stdin: PassThrough | undefined;
  readonly stdout: PassThrough | undefined;
  readonly stderr: PassThrough | undefined;
  readonly sizes: TerminalSize[] = [];
  readonly ended: Promise<number | undefined>;
  readonly signal: AbortSignal;
  readonly #end = Promise.withResolvers<number | undefined>();

  constructor(wanted: StreamsWanted, signal: AbortSignal) {
    this.stdin = wanted.stdin ? new PassThrough() : undefined;
    this.stdout = wanted.stdout ? new PassThrough() : undefined;
    this.stderr = wanted.stderr ? new PassThrough() : undefined;
    this.signal = signal;
    this.ended = this.#end.promise;
    this.ended.catch(() => {});
  }

  resize(size: TerminalSize): Promise<void> {
    this.sizes.push(size);
    return Promise.resolve();
  }

  /** The process has ended, and so have its outputs. */
  exit(code: number | undefined): void {
    this.stdout?.end();
    this.stderr?.end();
    this.#end.resolve(code);
  }

  /** The connection to the engine has broken. */
  break(error: Error): void {
    this.stdout?.destroy();
    this.stderr?.destroy();
    this.#end.reject(error);
  }
}
