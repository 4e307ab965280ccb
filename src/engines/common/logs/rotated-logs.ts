import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errorCode } from '../../../base/error-code.ts';

/** One file of a container's log, as it was opened. `index`: 0 is written to, 1 was before that, and so on, as far as is known. */
export interface OpenLog {
  readonly file: FileHandle;
  readonly index: number;
}

/**
 * Which files of the log at a path are there and can be read. A log is rotated by renaming, so that what is looked for by name may have another
 * one a moment later: files are known by what they are, and each answer is looked at twice.
 */
export interface LogNames {
  /** Ascending; none once their directory was removed with the container. */
  indexes(path: string): Promise<readonly number[]>;
  /** Undefined: there is none. */
  nameOf(path: string, index: number): string | Promise<string | undefined>;
  /** Whether the file that was written to last may still be, although the next one is there: who follows the log stays with it. */
  isSettling(path: string): boolean;
}

/** As Docker rotates, the oldest first: LOG.2 becomes LOG.3, LOG.1 LOG.2, LOG LOG.1, and a new LOG is made. Compressed ones do not count. */
export const numberedLogs: LogNames = {
  async indexes(path) {
    const name = basename(path);
    const found = (await namesBeside(path)).flatMap((entry) => {
      if (entry === name) return [0];
      const index = entry.startsWith(`${name}.`) ? entry.slice(name.length + 1) : '';
      return /^[1-9]\d{0,3}$/.test(index) ? [Number(index)] : [];
    });
    return found.toSorted((a, b) => a - b);
  },
  nameOf: (path, index) => (index === 0 ? path : `${path}.${index}`),
  isSettling: () => false,
};

/** All names in the directory of a log; none where it is gone. */
export async function namesBeside(path: string): Promise<readonly string[]> {
  return readdir(dirname(path)).catch((error: unknown): string[] => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
}

/** In the midst of a rotation; it takes the engine less than a millisecond. */
const TRIES = 100;
/** A listing may lack what is renamed while it is made: several in a row do not. */
const LOOKS = 4;

/** The oldest file that is there. Rejects when there is none. */
export async function openOldest(names: LogNames, path: string): Promise<OpenLog> {
  for (let tries = 1; ; tries++) {
    const opened = await openAt(names, path, await oldestOf(names, path));
    if (opened && (tries >= TRIES || (await isAt(names, path, await oldestOf(names, path), opened.file)))) return opened;
    await opened?.file.close();
    if (tries >= TRIES) return openNewest(path);
  }
}

/** The file that is written to. Rejects when there is none. */
export async function openNewest(path: string): Promise<OpenLog> {
  for (let tries = 1; ; tries++) {
    try {
      return { file: await open(path), index: 0 };
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || tries === TRIES) throw error;
    }
  }
}

/** The file that was written before this one; undefined: there is none any more. */
export async function openOlder(names: LogNames, path: string, { file }: OpenLog): Promise<OpenLog | undefined> {
  let missing = 0;
  for (let tries = 1; tries <= TRIES; tries++) {
    const own = await indexOf(names, path, file);
    if (own === undefined && (await file.stat()).nlink === 0) return undefined;
    const older = (await names.indexes(path)).find((index) => own !== undefined && index > own);
    if (own === undefined || older === undefined) {
      if (own !== undefined && ++missing === LOOKS) return undefined;
      continue;
    }
    const opened = await openAt(names, path, older);
    if (opened && older === own + 1 && (await isAt(names, path, own, file))) return opened;
    await opened?.file.close();
  }
  return undefined;
}

/**
 * The file that was begun after this one, which is no longer written to. `later`: a rotation is under way. Where this one has gone, with
 * others after it, it is the oldest that is left.
 */
export async function openNewer(names: LogNames, path: string, { file }: OpenLog): Promise<OpenLog | 'later'> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const own = await indexOf(names, path, file);
    // Not yet rotated after all: its name was only away for a moment.
    if (own === 0) return 'later';
    if (own !== undefined) {
      const opened = await openAt(names, path, own - 1);
      // As long as this one has its name the newer one had its own, too.
      if (opened && (await isAt(names, path, own, file))) return opened;
      await opened?.file.close();
    } else if ((await file.stat()).nlink === 0) {
      const oldest = (await names.indexes(path)).at(-1);
      const opened = oldest === undefined ? undefined : await openAt(names, path, oldest);
      if (opened && (await names.indexes(path)).at(-1) === oldest && (await isAt(names, path, opened.index, opened.file))) return opened;
      await opened?.file.close();
    }
  }
  return 'later';
}

const oldestOf = async (names: LogNames, path: string): Promise<number> => (await names.indexes(path)).at(-1) ?? 0;

/** Undefined: it has no name now, or is just being renamed. */
async function indexOf(names: LogNames, path: string, file: FileHandle): Promise<number | undefined> {
  for (const index of await names.indexes(path)) if (await isAt(names, path, index, file)) return index;
  return undefined;
}

async function isAt(names: LogNames, path: string, index: number, file: FileHandle): Promise<boolean> {
  try {
    const name = await names.nameOf(path, index);
    if (name === undefined) return false;
    const [named, own] = await Promise.all([stat(name), file.stat()]);
    return named.ino === own.ino && named.dev === own.dev;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function openAt(names: LogNames, path: string, index: number): Promise<OpenLog | undefined> {
  try {
    const name = await names.nameOf(path, index);
    return name === undefined ? undefined : { file: await open(name), index };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
