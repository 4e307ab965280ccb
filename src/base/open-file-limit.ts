import { readFileSync } from 'node:fs';

const CAP_SYS_RESOURCE = 24n;

/** How many files this process may have open at a time, sockets included; Infinity where there is no limit. */
export function openFileLimit(path = '/proc/self/limits'): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)\s/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (soft === undefined) throw new Error(`${path}: expected a line "Max open files" with a number, found none`);
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Whether this process may raise its limits. */
export function mayRaiseLimits(path = '/proc/self/status'): boolean {
  const [, effective] = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  return effective !== undefined && ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}
