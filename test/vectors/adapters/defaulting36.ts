import { defaultPod } from '../../../src/model/defaulting/default-pod.ts';
import { manifestDecoder } from '../../../src/sources/decode-manifest.ts';

const decode = manifestDecoder();
const bytesOf = (manifest: unknown): Uint8Array => Buffer.from(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));

export function run(manifest: unknown): unknown {
  const { pods, faults } = decode(bytesOf(manifest));
  const [fault] = [...faults, ...pods.flatMap((pod) => pod.faults)];
  return fault === undefined ? pods[0]?.pod && defaultPod(pods[0].pod) : { decodeError: fault.type };
}

/** Of a decode error the class counts. */
export function same(actual: unknown, expected: unknown): boolean {
  return JSON.stringify(plain(actual)) === JSON.stringify(plain(expected));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const { message, ...rest } = value as Record<string, unknown>;
  const members = Object.entries('decodeError' in rest || message === undefined ? rest : { ...rest, message });
  const known = members.map(([key, inner]) => [key, plain(inner)] as const).filter(([, inner]) => inner !== undefined && inner !== null);
  return Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1)));
}
