import type { Clock } from './base/clock.ts';
import { errorText } from './base/error-text.ts';
import type { Logger } from './base/logger.ts';
import { mayRaiseLimits, openFileLimit } from './base/open-file-limit.ts';
import { runCommand } from './base/run-command.ts';

const WITHIN_MS = 5_000;

export interface SetOpenFilesDeps {
  readonly clock: Pick<Clock, 'schedule'>;
  readonly log: Pick<Logger, 'v' | 'warn'>;
  /** What the limit is now. */
  readonly limit?: () => number;
  /** Whether this process may raise it. */
  readonly mayRaise?: () => boolean;
  readonly program?: string;
}

/**
 * Sets how many files this process may have open, soft and hard limit alike, to maxOpenFiles (rlimit.SetNumFiles in cmd/kubelet/app). Node has no
 * call for it: util-linux's prlimit does it. Where nobody has asked for a number the limit is only raised, where this process may; 0 leaves it.
 * Never rejects but with the signal's reason: what cannot be is said, and the agent goes on with what it has.
 */
export async function setOpenFiles(
  { maxOpenFiles, asked }: { readonly maxOpenFiles: number; readonly asked: boolean },
  { clock, log, limit = openFileLimit, mayRaise = mayRaiseLimits, program = 'prlimit' }: SetOpenFilesDeps,
  signal: AbortSignal,
): Promise<void> {
  const now = limit();
  if (maxOpenFiles <= 0 || (asked ? now === maxOpenFiles : now >= maxOpenFiles || !mayRaise())) return;
  const why = await failureOf(program, maxOpenFiles, clock, signal);
  if (why === undefined) return;
  const fields = { maxOpenFiles, mayOpen: limit(), why, advice: 'LimitNOFILE= in a unit of systemd sets it as well' };
  if (asked) log.warn('the limit of open files is left as it was (maxOpenFiles, --max-open-files)', fields);
  else log.v(2, 'the limit of open files is left as it was', fields);
}

async function failureOf(program: string, files: number, clock: Pick<Clock, 'schedule'>, signal: AbortSignal): Promise<string | undefined> {
  const argv = ['--pid', `${process.pid}`, `--nofile=${files}:${files}`];
  const end = await runCommand(program, argv, { clock, deadlineMs: WITHIN_MS, signal });
  switch (end.is) {
    case 'exited':
      return end.code === 0 ? undefined : end.stderr.trim().slice(0, 500) || `prlimit ended with ${end.code}`;
    case 'killed':
      return `prlimit was ended by ${end.by}`;
    case 'late':
      return `prlimit has not ended within ${WITHIN_MS / 1000} s`;
    case 'missing':
      return `prlimit of util-linux is needed: ${errorText(end.error)}`;
    default:
      return end satisfies never;
  }
}
