import { isDeepStrictEqual } from 'node:util';
import { manifestDecoder } from '../../../src/sources/decode-manifest.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';

interface Case {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  readonly manifest: unknown;
}
type Errors = readonly { readonly type: string; readonly field: string; readonly detail?: string }[];

const decodeSingle = manifestDecoder();

/** Kubernetes 1.20 let static pods refer to the API server; and both its sources are asked for a single pod here. */
export function run({ nodeName, source, manifest }: Case): unknown {
  const read = staticPodReader({ nodeName, source, references: 'allow' });
  const bytes = Buffer.from(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  const { pods } = read(bytes);
  const all = [...decodeSingle(bytes).faults, ...pods.flatMap((pod) => pod.faults)];
  const decodeError = all.find(({ type }) => !type.startsWith('FieldValue'));
  if (decodeError !== undefined) return { decodeError: decodeError.type };
  return all.map(({ type, field, detail }) => ({ type, field, detail }));
}

/** A multiset of errors, or the class of a decode error. */
export function same(actual: unknown, expected: Errors | { readonly decodeError: string }): boolean {
  if (!Array.isArray(actual) || !Array.isArray(expected)) {
    return (
      !Array.isArray(expected) && isDeepStrictEqual(actual, { decodeError: (expected as { readonly decodeError: string }).decodeError })
    );
  }
  const lines = (errors: Errors): readonly string[] =>
    errors.map(({ type, field, detail = '' }) => `${type} ${field} ${detail}`).toSorted();
  return isDeepStrictEqual(lines(actual), lines(expected));
}
