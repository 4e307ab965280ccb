import { bool, float, int64, string } from '../kinds.ts';
import { option } from '../option.ts';

/** The agent's own process. */
export const processOptions = {
  lockFile: option<string>({
    flag: 'lock-file',
    formerField: 'lockFilePath',
    kind: string,
    default: '',
    defaultText: 'none',
    group: 'General',
    help: 'A file that the agent locks (flock) before it begins, and for as long as it runs; while another process has the lock it waits.',
  }),
  exitOnLockContention: option<boolean>({
    flag: 'exit-on-lock-contention',
    formerField: 'exitOnLockContention',
    kind: bool,
    default: false,
    group: 'General',
    help: 'With --lock-file: ends the agent when another process opens that file, or removes it; pods stay as they are. Needs inotifywait (Debian: inotify-tools).',
  }),
  maxOpenFiles: option<number>({
    flag: 'max-open-files',
    config: 'maxOpenFiles',
    kind: int64,
    default: 1_000_000,
    zeroInFileIsUnset: true,
    group: 'General',
    help: 'How many files the agent may have open: the limit is set to it, by prlimit of util-linux. Where it is not given, a limit that is higher stays; 0 as a flag leaves any.',
  }),
  chaosChance: option<number>({
    flag: 'chaos-chance',
    kind: float,
    default: 0,
    group: 'Cluster',
    help: 'For tests: this share of the requests to the API server fails as if the connection was reset, from 0 to 1.',
  }),
} as const;
