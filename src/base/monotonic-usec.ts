/** CLOCK_MONOTONIC in microseconds, the machine's own, by which other programs tell what came before what. */
export const monotonicUsec = (): bigint => process.hrtime.bigint() / 1000n;
