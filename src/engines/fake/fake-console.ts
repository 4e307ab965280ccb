import { Subject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { LogPolicy } from '../../model/log-policy.ts';
import { FakeLog } from './fake-log.ts';
import { FakeLogFilter } from './fake-logs.ts';
import type { OutputStream, ProcessIo } from './program.ts';

/** One write of a process. */
export interface Written {
  readonly atMs: number;
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

export interface ConsoleOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly logPolicy: LogPolicy | undefined;
  readonly env: ReadonlyMap<string, string>;
  /** Whether its input is open, and whether it closes with the first one who has written into it: Container.stdin and stdinOnce. */
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  /** What the container is stopped with. */
  readonly stopSignal?: string | undefined;
  /** As in the container's spec. */
  readonly terminationMessagePath?: string | undefined;
  readonly terminationMessagePolicy?: string | undefined;
}

/** pkg/kubelet/container/runtime.go: bounds of a termination message, and of what is taken from the log in its place. */
const MAX_MESSAGE_BYTES = 4096;
const MAX_MESSAGE_LOG_BYTES = 2048;
const MAX_MESSAGE_LOG_LINES = 80;

/** What the first process of a container reads and writes, and what is kept of it. */
export class FakeConsole implements ProcessIo {
  /** Each write as it happens. */
  readonly written = new Subject<Written>();
  /** Called when there is something to read. */
  onInput: () => void = () => {};
  readonly env: ReadonlyMap<string, string>;
  readonly stopSignal: string | undefined;
  readonly #options: ConsoleOptions;
  readonly #log: FakeLog;
  #message = Buffer.alloc(0);
  readonly #input: Uint8Array[] = [];
  #inputEnded: boolean;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#log = new FakeLog(options.clock, options.logPolicy);
    this.env = options.env;
    this.stopSignal = options.stopSignal;
    this.#inputEnded = !options.stdin;
  }

  /** Oldest first. */
  get kept(): readonly Written[] {
    return this.#log.kept;
  }

  write(stream: OutputStream, bytes: Uint8Array): void {
    const written: Written = { atMs: this.#options.clock.now(), stream, bytes };
    this.#log.add(written);
    this.written.next(written);
  }

  read(): Uint8Array | 'end' | undefined {
    return this.#input.shift() ?? (this.#inputEnded ? 'end' : undefined);
  }

  /** The one file here is that of the termination message. */
  open(path: string, append: boolean): ((bytes: Uint8Array) => void) | undefined {
    if (path !== this.#options.terminationMessagePath) return undefined;
    if (!append) this.#message = Buffer.alloc(0);
    return (bytes) => {
      this.#message = Buffer.concat([this.#message, bytes]).subarray(-MAX_MESSAGE_BYTES);
    };
  }

  /** What the container leaves when it ends so. */
  terminationMessage(exitCode: number): string {
    if (this.#message.length > 0) return this.#message.toString();
    if (this.#options.terminationMessagePolicy !== 'FallbackToLogsOnError' || exitCode === 0) return '';
    const lines = new FakeLogFilter({ follow: false, timestamps: false, tailLines: MAX_MESSAGE_LOG_LINES }).tail(this.kept);
    return Buffer.concat(lines.map(({ bytes }) => bytes))
      .subarray(-MAX_MESSAGE_LOG_BYTES)
      .toString();
  }

  /** What comes after the end is lost. */
  feed(bytes: Uint8Array): void {
    if (this.#inputEnded) return;
    this.#input.push(bytes);
    this.onInput();
  }

  /** The writer of its input has gone. */
  inputLeft(): void {
    if (!this.#options.stdinOnce || this.#inputEnded) return;
    this.#inputEnded = true;
    this.onInput();
  }
}
