/**
 * A stretch of a process's life in which nothing happens but time. What it hears: `nothing` sleeps through signals, `trap` is a shell's
 * `wait`, which a trapped SIGTERM ends, `term` is a server, which SIGTERM ends, and `input` waits for something to read.
 */
export interface Pause {
  /** Infinity: until a signal. */
  readonly ms: number;
  readonly hears: 'nothing' | 'trap' | 'term' | 'input';
}

export type OutputStream = 'stdout' | 'stderr';

/** A process's standard streams. */
export interface ProcessIo {
  write(stream: OutputStream, bytes: Uint8Array): void;
  /** What has come in since; undefined while there is nothing yet. */
  read(): Uint8Array | 'end' | undefined;
  /** What the process is stopped with; SIGTERM unless it says otherwise. */
  readonly stopSignal?: string | undefined;
  /** Opens a file for writing. Undefined: what is written is lost, as there are hardly any files here. */
  readonly open?: (path: string, append: boolean) => ((bytes: Uint8Array) => void) | undefined;
}

/** Reads nothing, and is not read. */
export const noIo: ProcessIo = { write: () => {}, read: () => 'end' };

/** Why a pause was over. */
export type Wake = 'elapsed' | 'signalled';

/** A process: yields its pauses and returns its exit code. */
export type Run = Generator<Pause, number, Wake>;

/** What runs in a container, before it is started. */
export interface Program {
  readonly run: Run;
  /** Called on SIGTERM. True when the process has a handler, which it runs at its next chance. */
  readonly onTerm: () => boolean;
}

/** A server: up until SIGTERM, which it obeys. */
export function* serve(): Run {
  yield { ms: Number.POSITIVE_INFINITY, hears: 'term' };
  return 0;
}

export const noHandler = (): boolean => false;
