import { isDeepStrictEqual } from 'node:util';
import { manifestDecoder } from '../../../src/sources/decode-manifest.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';

interface Case {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  readonly manifest: unknown;
}

interface FieldFault {
  readonly type: string;
  readonly field: string;
  readonly detail?: string;
}

interface Verdict {
  readonly errors?: readonly FieldFault[];
  readonly refused?: string;
  readonly decodeError?: string;
}

const decodeSingle = manifestDecoder();

/** A pod that refers to the API server is refused by faults of its own here, whose words name the field. */
export function run({ nodeName, source, manifest }: Case): Verdict {
  const bytes = Buffer.from(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  const { pods } = staticPodReader({ nodeName, source, references: 'allow' })(bytes);
  const all = [...decodeSingle(bytes).faults, ...pods.flatMap((pod) => pod.faults)];
  const decodeError = all.find(({ type }) => !type.startsWith('FieldValue'));
  if (decodeError !== undefined) return { decodeError: decodeError.type };
  // Upstream this is no error of a field.
  if (all.some(({ detail }) => detail === 'name is needed for the pod')) return { refused: 'it has no name' };
  if (all.length > 0) return { errors: all.map(({ type, field, detail }) => ({ type, field, detail })) };
  const [strictly] = staticPodReader({ nodeName, source })(bytes).pods;
  return { errors: [], ...(strictly?.faults.length !== 0 && { refused: 'it refers to objects of the API server' }) };
}

/** A multiset of errors, and whether it is refused nevertheless; or the class of a decode error. */
export function same(actual: Verdict, expected: Verdict): boolean {
  const comparable = ({ errors, refused, decodeError }: Verdict): unknown => ({
    errors: (errors ?? []).map(({ type, field, detail = '' }) => `${type} ${field} ${detail}`).toSorted(),
    refused: refused !== undefined,
    decodeError,
  });
  return isDeepStrictEqual(comparable(actual), comparable(expected));
}
