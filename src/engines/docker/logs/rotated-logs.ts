import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errorCode } from '../../../base/error-code.ts';

/** One file of a container's log, as it was opened. `index`: 0 is written to, 1 was before that, and so on, as far as is known. */
export interface OpenLog {
  readonly file: FileHandle;
  readonly index: number;
}

/**
 * The engine rotates a log by renaming, the oldest first: LOG.2 becomes LOG.3, LOG.1 LOG.2, LOG LOG.1, and a new LOG is made. What is looked
 * for by name may have another one a moment later, so that files are known by what they are, and each answer is looked at twice.
 */
const pathOf = (path: string, index: number): string => (index === 0 ? path : `${path}.${index}`);

/** In the midst of a rotation; it takes the engine less than a millisecond. */
const TRIES = 100;
/** A listing may lack what is renamed while it is made: several in a row do not. */
const LOOKS = 4;

/** The oldest file that is there. Rejects when there is none. Compressed ones do not count. */
export async function openOldest(path: string): Promise<OpenLog> {
  for (let tries = 1; ; tries++) {
    const opened = await openAt(path, await oldestOf(path));
    if (opened && (tries >= TRIES || (await isAt(path, await oldestOf(path), opened.file)))) return opened;
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
export async function openOlder(path: string, { file }: OpenLog): Promise<OpenLog | undefined> {
  let missing = 0;
  for (let tries = 1; tries <= TRIES; tries++) {
    const own = await indexOf(path, file);
    if (own === undefined && (await file.stat()).nlink === 0) return undefined;
    const older = (await indexes(path)).find((index) => own !== undefined && index > own);
    if (own === undefined || older === undefined) {
      if (own !== undefined && ++missing === LOOKS) return undefined;
      continue;
    }
    const opened = await openAt(path, older);
    if (opened && older === own + 1 && (await isAt(path, own, file))) return opened;
    await opened?.file.close();
  }
  return undefined;
}

/**
 * The file that was begun after this one, which is no longer written to. `later`: a rotation is under way. Where this one has gone, with
 * others after it, it is the oldest that is left.
 */
export async function openNewer(path: string, { file }: OpenLog): Promise<OpenLog | 'later'> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const own = await indexOf(path, file);
    // Not yet rotated after all: its name was only away for a moment.
    if (own === 0) return 'later';
    if (own !== undefined) {
      const opened = await openAt(path, own - 1);
      // As long as this one has its name the newer one had its own, too.
      if (opened && (await isAt(path, own, file))) return opened;
      await opened?.file.close();
    } else if ((await file.stat()).nlink === 0) {
      const oldest = (await indexes(path)).at(-1);
      const opened = oldest === undefined ? undefined : await openAt(path, oldest);
      if (opened && (await indexes(path)).at(-1) === oldest && (await isAt(path, opened.index, opened.file))) return opened;
      await opened?.file.close();
    }
  }
  return 'later';
}

const oldestOf = async (path: string): Promise<number> => (await indexes(path)).at(-1) ?? 0;

/** Of the files that are there, ascending: none once the engine has removed their directory with the container. */
async function indexes(path: string): Promise<readonly number[]> {
  const name = basename(path);
  const entries = await readdir(dirname(path)).catch((error: unknown): string[] => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const found = entries.flatMap((entry) => {
    if (entry === name) return [0];
    const index = entry.startsWith(`${name}.`) ? entry.slice(name.length + 1) : '';
    return /^[1-9]\d{0,3}$/.test(index) ? [Number(index)] : [];
  });
  return found.toSorted((a, b) => a - b);
}

/** Undefined: it has no name now, or is just being renamed. */
async function indexOf(path: string, file: FileHandle): Promise<number | undefined> {
  for (const index of await indexes(path)) if (await isAt(path, index, file)) return index;
  return undefined;
}

async function isAt(path: string, index: number, file: FileHandle): Promise<boolean> {
  try {
    const [named, own] = await Promise.all([stat(pathOf(path, index)), file.stat()]);
    return named.ino === own.ino && named.dev === own.dev;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function openAt(path: string, index: number): Promise<OpenLog | undefined> {
  try {
    return { file: await open(pathOf(path, index)), index };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
