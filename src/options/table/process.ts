import { bool, string } from '../kinds.ts';
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
} as const;
