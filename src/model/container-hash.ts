import { fnv1a } from '../base/fnv-1a.ts';
import { containerJson } from './container-json.ts';
import { always, struct, text } from './go-json.ts';
import type { Container } from './pod.ts';

/** Each byte's decimal digits and the space before them. */
const decimals = Array.from({ length: 256 }, (_, byte) => ` ${byte}`);
const open = '([]uint8)[';

/** FNV-1a, 32 bit, over the bytes as the kubelet's hash prints them: "([]uint8)[1 22 255]" (pkg/util/hash DeepHashObject). */
export function deepHash(bytes: Uint8Array): number {
  let hash = fnv1a(open);
  let first = true;
  for (const byte of bytes) {
    const digits = decimals[byte] ?? '';
    hash = fnv1a(first ? digits.slice(1) : digits, hash);
    first = false;
  }
  return fnv1a(']', hash) >>> 0;
}

const identityJson = struct({ image: always(text, '""'), name: always(text, '""') });

/**
 * What tells whether a running container is still the one that is wanted, in hexadecimal: the annotation io.kubernetes.container.hash. Its
 * name and image count, nothing else (HashContainer in pkg/kubelet/container, as of 1.31).
 */
export function containerHash({ name, image }: Pick<Container, 'name' | 'image'>): string {
  return hexHash(identityJson({ name, image }) ?? '{}');
}

const wholeHashes = new WeakMap<Container, string>();

/**
 * The same over the whole spec, as kubelets of up to 1.30 and earlier versions of this agent noted it down. Remembered per object, as a pod
 * is never mutated. Throws QuantityParseError.
 */
export function wholeContainerHash(container: Container): string {
  let hash = wholeHashes.get(container);
  if (hash === undefined) {
    hash = hexHash(containerJson(container));
    wholeHashes.set(container, hash);
  }
  return hash;
}

const hexHash = (json: string): string => deepHash(Buffer.from(json)).toString(16);
