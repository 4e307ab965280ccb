import { formatGoDuration } from '../../model/go-duration.ts';

/** Milliseconds as Go prints a duration: "1m0s". */
export const showDuration = (ms: number): string => formatGoDuration(BigInt(Math.round(ms * 1_000_000)));
