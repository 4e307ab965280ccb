import { type Dirent, readlinkSync, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errorCode } from './error-code.ts';
import { heldEntries, heldPath, holdDirectory, pathIn, shownName } from './held-directory.ts';
import { isWithin, mountsNow } from './mount-info.ts';

export interface TreeVisitor {
  /** What is no directory. `path` leads there from its directory, which is held open; it may be a link, and another thing by now. */
  readonly file: (path: Buffer) => void | Promise<void>;
  /** A directory below the top, held open. */
  readonly directory: (directory: FileHandle, info: Stats) => void | Promise<void>;
}

export interface WalkLimits {
  /** Of the names that wait for their turn, all together. */
  readonly namesBytes?: number;
  /** Of directories in one another; there are some 100 bytes for each. */
  readonly depth?: number;
}

/** A directory on the way down to where the walk is, far above: the way back there is by the name "..". Kept small, for there may be very many. */
interface Passed {
  readonly ino: number;
  /** How many of its entries have been visited, and whether these are all. */
  visited: number;
  isVisited: boolean;
}

/** One that is near, or has directories whose turn is to come. */
interface Level extends Passed {
  held: FileHandle | undefined;
  readonly names: string[];
  namesBytes: number;
}

/** So many directories above the one where the walk is stay open, for what is far deeper in one another is rare. */
const HELD_ABOVE = 8;

/**
 * Where there is no room, so many names of one directory wait all the same, but not more than an eighth of what has been visited of it: to read
 * it again for each name would take hours where a pod has seen to it that there is no room. They take a few times the room at most.
 */
const LEAST_NAMES = 2_000;
const LEAST_SHARE = 1 / 8;
const MOST_ROOMS = 4;

/** A name that waits takes as much beside its characters, with the directory that it may be the only one of. */
const NAME_BYTES = 256;

/**
 * Visits all that is below a directory, on its own file system, with a few descriptors and little memory however deep and wide it is: no path
 * is kept, and of the way down no more than the number of each directory. Never follows a link: each step is taken from a directory that is held
 * open. Resolves with the first fault for which something was left out, undefined when there is none; what vanishes meanwhile is none. Rejects
 * when the top cannot be read, at directories that are too deep in one another, and with what the visitor or the signal says.
 */
export async function walkTree(top: FileHandle, visitor: TreeVisitor, signal?: AbortSignal, limits: WalkLimits = {}): Promise<unknown> {
  const { namesBytes = 2 ** 24, depth = 250_000 } = limits;
  const { dev, ino } = await top.stat();
  const isMountPoint = mountPointsBelow(top);
  const above: (Level | Passed)[] = [];
  let at = top;
  const topLevel = newLevel(top, ino);
  let level = topLevel;
  let waitingBytes = 0;
  let fault: unknown;

  const unlessGone = (error: unknown): undefined => {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') fault ??= error;
  };

  async function* entries(): AsyncGenerator<Dirent> {
    try {
      yield* heldEntries(at);
    } catch (error) {
      if (at === top) throw error;
      unlessGone(error);
    }
  }

  /** Takes the names of as many directories as there is room for, and of some at least: the others are read when these have had their turn. */
  const visitEntries = async (): Promise<void> => {
    const room = (namesBytes - waitingBytes) / 2;
    const least = waitingBytes < MOST_ROOMS * namesBytes ? Math.min(LEAST_NAMES, level.visited * LEAST_SHARE) : 0;
    let known = level.visited;
    for await (const entry of entries()) {
      signal?.throwIfAborted();
      if (known-- > 0) continue;
      level.visited++;
      if (isMountPoint(at, entry.name)) continue;
      if (entry.isDirectory()) {
        level.names.push(entry.name);
        level.namesBytes += NAME_BYTES + entry.name.length;
        waitingBytes += NAME_BYTES + entry.name.length;
        if (level.namesBytes >= room && level.names.length >= least) return;
      } else await visitor.file(pathIn(at, entry.name));
    }
    level.isVisited = true;
  };

  const letGo = async (one: Level | Passed): Promise<void> => {
    if (!('held' in one) || one.held === undefined || one.held === top) return;
    const { held } = one;
    one.held = undefined;
    await held.close();
  };

  const passFarAbove = async (): Promise<void> => {
    const index = above.length - 1 - HELD_ABOVE;
    const far = above[index];
    if (far === undefined || far === topLevel) return;
    await letGo(far);
    if ('names' in far && far.names.length === 0) above[index] = { ino: far.ino, visited: far.visited, isVisited: far.isVisited };
  };

  const goDown = async (name: string): Promise<void> => {
    level.namesBytes -= NAME_BYTES + name.length;
    waitingBytes -= NAME_BYTES + name.length;
    const below = await holdDirectory(pathIn(at, name)).catch(unlessGone);
    if (below === undefined) return;
    const info = await below.stat().catch(unlessGone);
    if (info?.dev !== dev) return below.close();
    above.push(level);
    level = newLevel(below, info.ino);
    at = below;
    await passFarAbove();
    if (above.length > depth) throw new Error(`more than ${depth} directories are in one another`);
    await visitor.directory(below, info);
  };

  const goUp = async (passed: Level | Passed): Promise<void> => {
    const parent: Level = 'names' in passed ? passed : { ...passed, held: undefined, names: [], namesBytes: 0 };
    const wasHeld = parent.held !== undefined;
    parent.held ??= await holdDirectory(`${heldPath(at)}/..`);
    await letGo(level);
    level = parent;
    at = parent.held;
    if (wasHeld) return;
    const info = await at.stat();
    if (info.ino === level.ino && info.dev === dev) return;
    // There is no way back to where it was, but to the top.
    fault ??= new Error('a directory was moved to another place while it was visited');
    await letGo(level);
    level = topLevel;
    at = top;
    above.length = 0;
    waitingBytes = level.namesBytes;
  };

  try {
    for (;;) {
      signal?.throwIfAborted();
      if (level.names.length === 0 && !level.isVisited) await visitEntries();
      const name = level.names.pop();
      const parent = name === undefined && level.isVisited ? above.pop() : undefined;
      if (name !== undefined) await goDown(name);
      else if (parent !== undefined) await goUp(parent);
      else if (level.isVisited) return fault;
    }
  } finally {
    for (const each of [level, ...above.slice(-HELD_ABOVE)]) await letGo(each);
  }
}

/** Another file system may not answer, not even when it is asked which one it is. So those that are mounted are known beforehand. */
function mountPointsBelow(top: FileHandle): (directory: FileHandle, name: string) => boolean {
  const path = pathOf(top);
  const table = mountsNow();
  const points = new Set(table.map((each) => each.path).filter((each) => path !== undefined && each !== path && isWithin(each, path)));
  return (directory, name) => points.size > 0 && points.has(`${pathOf(directory)}/${shownName(name)}`);
}

/** Undefined where it is too long to be known, as the path of no mount is. */
function pathOf(directory: FileHandle): string | undefined {
  try {
    return readlinkSync(heldPath(directory));
  } catch {
    return undefined;
  }
}

const newLevel = (held: FileHandle, ino: number): Level => ({ held, ino, names: [], namesBytes: 0, visited: 0, isVisited: false });
