import { lstatSync, type Stats } from 'node:fs';
import { holdDirectory } from '../base/held-directory.ts';
import { walkTree } from '../base/walk-tree.ts';

export interface DirectoryUsage {
  /** What is allocated, as du counts: a file with several links once. */
  readonly bytes: number;
  readonly inodes: number;
}

const BLOCK_BYTES = 512;
/** So many files with several links are remembered, however many a pod makes. Of others each link counts as its share. */
const LINKED_FILES = 100_000;

/**
 * What a directory and everything below it uses, itself included, on its own file system. What vanishes meanwhile or cannot be read does not
 * count. Rejects when the directory itself cannot be read.
 */
export async function directoryUsage(path: string, signal: AbortSignal, linkedFiles = LINKED_FILES): Promise<DirectoryUsage> {
  let [bytes, inodes] = [0, 0];
  const linked = new Set<number>();
  const count = ({ blocks }: Stats, share = 1): void => {
    bytes += blocks * BLOCK_BYTES * share;
    inodes += share;
  };
  const top = await holdDirectory(path, { follow: true });
  try {
    const topInfo = await top.stat();
    count(topInfo);
    const file = (below: Buffer): void => {
      // Dearer by half through the thread pool.
      const info = lstatSync(below, { throwIfNoEntry: false });
      if (info?.dev !== topInfo.dev) return;
      if (info.nlink === 1) return count(info);
      if (linked.has(info.ino)) return;
      if (linked.size >= linkedFiles) return count(info, 1 / info.nlink);
      linked.add(info.ino);
      count(info);
    };
    await walkTree(top, { file, directory: (_, info) => count(info) }, signal);
  } finally {
    await top.close();
  }
  return { bytes: Math.round(bytes), inodes: Math.round(inodes) };
}
