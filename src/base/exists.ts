import { access } from 'node:fs/promises';

/** Whether there is such a file, as far as this process may see. With a mode of fs.constants, whether it may also be used so. */
export const exists = (path: string, mode?: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
