import { readFileSync } from 'node:fs';

/** How many files this process may have open at a time, sockets included; Infinity where there is no limit. */
export function openFileLimit(path = '/proc/self/limits'): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)\s/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (soft === undefined) throw new Error(`${path}: expected a line "Max open files" with a number, found none`);
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
