/** CRI counts nanoseconds since the epoch, 0 for what has not happened. Milliseconds. */
export function criTimeMs(nanoseconds: bigint): number | undefined {
  return nanoseconds <= 0n ? undefined : Number(nanoseconds / 1_000_000n);
}
