/** The header grpc-timeout: in the finest of milliseconds, seconds and hours whose number has no more than the eight digits that gRPC takes. */
export function grpcTimeout(ms: number): string {
  const [unit, length] = (
    [
      ['m', 1],
      ['S', 1000],
    ] as const
  ).find(([, each]) => ms / each < 1e8) ?? ['H', 3_600_000];
  return `${Math.ceil(ms / length)}${unit}`;
}

const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** What the header says, in milliseconds; undefined for what is no timeout. */
export function grpcTimeoutMs(header: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? [];
  const each = UNIT_MS[unit];
  return digits === undefined || each === undefined ? undefined : Number(digits) * each;
}
