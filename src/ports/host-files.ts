import type { Touch } from '../base/touch.ts';

/**
 * Something done to files that a pod, a volume or another machine chooses. It is done in another process: arguments and result are plain data,
 * as JSON has them, and of an error message and code arrive.
 */
export interface HostTask<Args, Result> {
  /** Its name in that process. */
  readonly name: string;
  /** Makes each call of a file system through `touch`. */
  run(args: Args, touch: Touch): Promise<Result>;
}

/** A file system that has not answered a call in time, and has not answered since. */
export interface SilentFileSystem {
  /** Where it is mounted, in one place if there are several. */
  readonly mount: string;
  /** major:minor, as mountinfo has it. */
  readonly device: string;
  /** Where the call looked. */
  readonly path: string;
  /** When the call was made: the date, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/**
 * Everything that is done to files whose file system may never answer: a thread of this process that looked there would hang, and with a few of
 * them the whole agent, also when it is to stop. Files of the agent's own, below --root-dir and in /etc, need none of this.
 */
export interface HostFiles {
  /**
   * Rejects with the task's error, with the signal's reason, or, where a file system does not answer, after some seconds with an error that
   * tells which; and at once while it is known not to.
   */
  run<Args, Result>(task: HostTask<Args, Result>, args: Args, signal: AbortSignal): Promise<Result>;
  /** The file systems that are mounted and do not answer now. */
  silent(): readonly SilentFileSystem[];
}
