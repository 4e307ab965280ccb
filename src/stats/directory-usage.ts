import { lstatSync, type Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

export interface DirectoryUsage {
  /** What is allocated, as du counts: a file with several links once. */
  readonly bytes: number;
  readonly inodes: number;
}

/** So many entries are looked at before others have their turn. */
const SLICE = 256;
const BLOCK_BYTES = 512;

/**
 * What a directory and everything below it uses, itself included, on its own file system. What vanishes meanwhile does not count. Rejects
 * when the directory cannot be read.
 */
export async function directoryUsage(path: string, signal: AbortSignal): Promise<DirectoryUsage> {
  const top = await lstat(path);
  let bytes = 0;
  let inodes = 0;
  const linked = new Set<number>();
  const count = (info: Stats): void => {
    bytes += info.blocks * BLOCK_BYTES;
    inodes++;
  };

  count(top);
  const pending = top.isDirectory() ? [path] : [];
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    signal.throwIfAborted();
    const isTop = directory === path;
    if (!isTop) {
      // A directory may be where another file system begins, and that one may not answer: never wait for it here.
      const info = await lstat(directory).catch(() => undefined);
      if (info?.dev !== top.dev) continue;
      count(info);
    }
    try {
      for await (const entry of await opendir(directory, { bufferSize: SLICE })) {
        const below = join(directory, entry.name);
        if (entry.isDirectory()) {
          pending.push(below);
          continue;
        }
        // Dearer by half through the thread pool.
        const info = lstatSync(below, { throwIfNoEntry: false });
        if (info?.dev !== top.dev || (info.nlink > 1 && linked.has(info.ino))) continue;
        if (info.nlink > 1) linked.add(info.ino);
        count(info);
      }
    } catch (error) {
      if (isTop) throw error;
    }
  }
  return { bytes, inodes };
}
