import { statfs } from 'node:fs/promises';
import type { HostTask } from '../ports/host-files.ts';

/** What statfs(2) tells. */
export interface FileSystemCounts {
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly bsize: number;
  readonly files: number;
  readonly ffree: number;
}

/** Of a file system that may not answer; `path` is free of links. */
export const fileSystemCounts: HostTask<{ readonly path: string }, FileSystemCounts> = {
  name: 'fileSystemCounts',
  run: async ({ path }, touch) => {
    const { blocks, bfree, bavail, bsize, files, ffree } = await touch(path, () => statfs(path));
    return { blocks, bfree, bavail, bsize, files, ffree };
  },
};
