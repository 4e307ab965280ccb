import { touchDirectly } from '../../src/base/touch.ts';
import type { HostFiles } from '../../src/ports/host-files.ts';

/** In this process, where every file system answers. */
export const directHostFiles: HostFiles = {
  run: (task, args) => task.run(args, touchDirectly),
  silent: () => [],
};
