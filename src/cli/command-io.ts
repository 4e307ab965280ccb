import type { Readable, Writable } from 'node:stream';

/** A terminal, or what stands in its place. */
export interface CommandInput extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}
export interface CommandOutput extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}
export interface CommandIo {
  readonly stdin: CommandInput;
  readonly stdout: CommandOutput;
  readonly stderr: Pick<Writable, 'write'>;
  readonly nowMs: () => number;
  /** No colours: NO_COLOR is set. */
  readonly plain: boolean;
}

/** Shown to the user, without a stack; the exit code with it. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Typed wrongly: exit code 2. */
export class UsageError extends CommandError {
  constructor(message: string) {
    super(message, 2);
  }
}
