import { stat } from 'node:fs/promises';
import { realPath } from '../base/real-path.ts';
import type { HostTask } from '../ports/host-files.ts';

/** That a file, links followed, is there, and its file system answers. */
export const findFile: HostTask<{ readonly path: string }, void> = {
  name: 'findFile',
  run: async ({ path }, touch) => {
    const real = await realPath(path, touch);
    await touch(real, () => stat(real));
  },
};
