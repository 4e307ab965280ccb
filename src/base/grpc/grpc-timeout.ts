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
