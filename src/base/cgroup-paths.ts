/** Where a process is in each hierarchy: by controller for version 1, '' for version 2. From /proc/PID/cgroup. */
export type CgroupPaths = ReadonlyMap<string, string>;

export function parseCgroupPaths(text: string): CgroupPaths {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    for (const controller of controllers.split(',')) paths.set(controller, path);
  }
  return paths;
}
