/** These files write integers beyond ±2^53 as strings. */
export function jsonInteger(n: bigint): number | string {
  return n >= -(2n ** 53n) && n <= 2n ** 53n ? Number(n) : String(n);
}
