export interface SpanIds {
  /** 32 hexadecimal digits, and never all zeros: so is none. */
  traceId(): string;
  /** 16 of them. */
  spanId(): string;
}

/** `random`: from 0 up to 1. */
export function spanIds(random: () => number): SpanIds {
  const word = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const id = (words: number): string => {
    const digits = Array.from({ length: words }, word).join('');
    return /[^0]/.test(digits) ? digits : `${digits.slice(0, -1)}1`;
  };
  return { traceId: () => id(4), spanId: () => id(2) };
}

/**
 * Whether a new trace is sampled, by its id: the same everywhere, for who knows the id (OpenTelemetry's TraceIdRatioBased: the last 63 bits
 * below the ratio's share of all).
 */
export function isSampled(traceId: string, perMillion: number): boolean {
  return BigInt(`0x${traceId.slice(16)}`) >> 1n < (BigInt(perMillion) << 63n) / 1_000_000n;
}
