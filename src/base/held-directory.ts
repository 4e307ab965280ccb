import { constants, type Dirent } from 'node:fs';
import { type FileHandle, open, opendir } from 'node:fs/promises';

/** Of Linux; Node has no name for it. What is opened so is held, and can be shown, walked and changed by /proc/self/fd, but not read. */
export const O_PATH = 0o10_000_000;

/** So many entries are read at a time, however many there are. */
const ENTRIES_AT_ONCE = 256;

/**
 * The directory `path`, held: what is done from it happens there, whatever its name stands for by then and however long its path is. The last
 * part of `path` is not followed when it is a link, unless `follow` says so: then it rejects with ENOTDIR, as for all else that is no directory.
 */
export function holdDirectory(path: string | Buffer, { follow = false } = {}): Promise<FileHandle> {
  return open(path, O_PATH | constants.O_DIRECTORY | (follow ? 0 : constants.O_NOFOLLOW));
}

/** A path to what is held open, links not followed. Of this process only. */
export const heldPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** A path to an entry of a directory that is held. `name`: as heldEntries has it, one character a byte, for a name need not be UTF-8. */
export const pathIn = (directory: FileHandle, name: string): Buffer => Buffer.from(`${heldPath(directory)}/${name}`, 'latin1');

/** Names one after the other, never all of them in memory; a character of a name is a byte. */
export async function* heldEntries(directory: FileHandle): AsyncGenerator<Dirent> {
  yield* await opendir(heldPath(directory), { encoding: 'latin1', bufferSize: ENTRIES_AT_ONCE });
}

/** A name as heldEntries has it, for people. */
export const shownName = (name: string): string => Buffer.from(name, 'latin1').toString();
