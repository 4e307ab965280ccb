/** Delays that double from `baseMs` up to `maxMs`: for the n-th failure in a row, n from 1. */
export function exponential(baseMs: number, maxMs: number): (failures: number) => number {
  return (failures) => Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30));
}
