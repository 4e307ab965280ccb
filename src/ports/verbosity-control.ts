import type { StreamLevel } from '../base/verbosity.ts';

/** How much is logged from now on. */
export interface VerbosityControl {
  /** As `--v`. */
  set(level: number): void;
  /** As `--vmodule`, in place of what that said. */
  setStreams(streams: readonly StreamLevel[]): void;
}
