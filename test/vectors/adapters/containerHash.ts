import { wholeContainerHash } from '../../../src/model/container-hash.ts';
import { containerJson } from '../../../src/model/container-json.ts';
import type { Container } from '../../../src/model/pod.ts';

/** `hashedText` only explains the hash. */
export function run(container: Container): unknown {
  const hex = wholeContainerHash(container);
  return { hash: Number.parseInt(hex, 16), hex, goJSON: containerJson(container) };
}

interface Output {
  readonly hash: number;
  readonly hex: string;
  readonly goJSON: string;
}

export function same(actual: Output, expected: Output): boolean {
  return actual.hash === expected.hash && actual.hex === expected.hex && actual.goJSON === expected.goJSON;
}
