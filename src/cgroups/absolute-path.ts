import { posix } from 'node:path';

/** A cgroup as an option names it, from the root of the hierarchy: "system.slice/" is "/system.slice", and nothing leads out of the root. */
export const absolutePath = (path: string): string => posix.resolve('/', path);
