// The two messages of grpc.health.v1.Health/Check (github.com/grpc/grpc/blob/master/src/proto/grpc/health/v1/health.proto).

/** HealthCheckResponse.ServingStatus, by number. */
const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

/** HealthCheckRequest: `string service = 1`, empty ones left out. */
export function healthCheckRequest(service: string): Buffer {
  const name = Buffer.from(service);
  return name.length === 0 ? name : Buffer.concat([Buffer.of(0x0a), varint(name.length), name]);
}

/** HealthCheckResponse: `ServingStatus status = 1`; the name of the status, or its number where it has none. Undefined: this is no such message. */
export function healthCheckStatus(message: Buffer): string | undefined {
  let status = 0;
  for (let at = 0; at < message.length;) {
    const tag = readVarint(message, at);
    if (tag === undefined) return undefined;
    const [kind, start] = [tag.value & 7, tag.end];
    const value = readVarint(message, start);
    if (kind === 0 && value !== undefined) {
      if (tag.value >> 3 === 1) status = value.value;
      at = value.end;
    } else if (kind === 2 && value !== undefined) at = value.end + value.value;
    else if (kind === 1) at = start + 8;
    else if (kind === 5) at = start + 4;
    else return undefined;
  }
  return statuses[status] ?? String(status);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 0x80; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return Buffer.from([...bytes, value]);
}

function readVarint(from: Buffer, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = from[at + i];
    if (byte === undefined) return undefined;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return { value: value >>> 0, end: at + i + 1 };
  }
  return undefined;
}
