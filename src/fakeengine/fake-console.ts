import { Subject } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { OutputStream, ProcessIo } from './program.ts';

/** One write of a process. */
export interface Written {
  readonly atMs: number;
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

/** So much of what a container writes is kept. */
const MAX_LOG_BYTES = 1 << 20;

export interface ConsoleOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly env: ReadonlyMap<string, string>;
  /** Whether its input is open, and whether it closes with the first one who has written into it: Container.stdin and stdinOnce. */
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
}

/** What the first process of a container reads and writes, and what is kept of it. */
export class FakeConsole implements ProcessIo {
  /** Each write as it happens. */
  readonly written = new Subject<Written>();
  /** Called when there is something to read. */
  onInput: () => void = () => {};
  readonly env: ReadonlyMap<string, string>;
  readonly #options: ConsoleOptions;
  readonly #log: Written[] = [];
  #logBytes = 0;
  readonly #input: Uint8Array[] = [];
  #inputEnded: boolean;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.env = options.env;
    this.#inputEnded = !options.stdin;
  }

  /** Oldest first. */
  get log(): readonly Written[] {
    return this.#log;
  }

  write(stream: OutputStream, bytes: Uint8Array): void {
    const written: Written = { atMs: this.#options.clock.now(), stream, bytes };
    this.#log.push(written);
    this.#logBytes += bytes.length;
    while (this.#logBytes > MAX_LOG_BYTES) this.#logBytes -= this.#log.shift()?.bytes.length ?? 0;
    this.written.next(written);
  }

  read(): Uint8Array | 'end' | undefined {
    return this.#input.shift() ?? (this.#inputEnded ? 'end' : undefined);
  }

  /** What comes after the end is lost. */
  feed(bytes: Uint8Array): void {
    if (this.#inputEnded) return;
    this.#input.push(bytes);
    this.onInput();
  }

  /** Whoever wrote into it has gone. */
  inputLeft(): void {
    if (!this.#options.stdinOnce || this.#inputEnded) return;
    this.#inputEnded = true;
    this.onInput();
  }
}
