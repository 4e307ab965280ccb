/** /proc/meminfo, in bytes. */
export function parseMemInfo(text: string): ReadonlyMap<string, number> {
  return new Map(Array.from(text.matchAll(/^(\S+):\s+(\d+) kB$/gm), ([, name = '', kiB]) => [name, Number(kiB) * 1024]));
}
