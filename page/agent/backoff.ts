const FIRST_MS = 1_000;
const MOST_MS = 30_000;

/** How long to wait before the next try, after so many that failed: twice as long each time, and not all pages at the same moment. `random`: from 0 to 1. */
export function backoffMs(failures: number, random: number): number {
  const longest = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(longest * (0.75 + random / 4));
}
