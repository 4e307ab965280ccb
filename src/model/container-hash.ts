import { containerJson } from './container-json.ts';
import type { Container } from './pod.ts';

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

const update = (hash: number, text: string): number => {
  let h = hash;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), PRIME);
  return h;
};
/** Each byte's decimal digits and the space before them. */
const decimals = Array.from({ length: 256 }, (_, byte) => ` ${byte}`);
const open = '([]uint8)[';

/** FNV-1a, 32 bit, over the bytes as the kubelet's hash prints them: "([]uint8)[1 22 255]" (pkg/util/hash DeepHashObject). */
export function deepHash(bytes: Uint8Array): number {
  let hash = update(OFFSET_BASIS, open);
  let first = true;
  for (const byte of bytes) {
    const digits = decimals[byte] ?? '';
    hash = update(hash, first ? digits.slice(1) : digits);
    first = false;
  }
  return update(hash, ']') >>> 0;
}

const hashes = new WeakMap<Container, string>();

/**
 * What tells whether a running container was made from this spec, in hexadecimal: the annotation io.kubernetes.container.hash
 * (pkg/kubelet/container HashContainer). Remembered per object, as a pod is never mutated. Throws QuantityParseError.
 */
export function containerHash(container: Container): string {
  let hash = hashes.get(container);
  if (hash === undefined) {
    hash = deepHash(Buffer.from(containerJson(container))).toString(16);
    hashes.set(container, hash);
  }
  return hash;
}
