import { goJsonSyntaxError } from '../../../src/model/go-json-syntax.ts';
import { formatGoDuration, GoDurationError, parseGoDuration } from '../../../src/model/go-duration.ts';
import { jsonInteger } from './json-integer.ts';

type Input =
  | { readonly op: 'parse'; readonly s: string }
  | { readonly op: 'format'; readonly ns: string }
  | { readonly op: 'unmarshal'; readonly json: string };

/** The text in a JSON string; null is an empty one. */
function unmarshal(json: string): string {
  const malformed = goJsonSyntaxError(json);
  if (malformed !== undefined) throw new GoDurationError(malformed);
  const value: unknown = JSON.parse(json) ?? '';
  if (typeof value === 'string') return value;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw new GoDurationError(`json: cannot unmarshal ${kind} into Go value of type string`);
}

function nanoseconds(input: Input): bigint {
  switch (input.op) {
    case 'parse':
      return parseGoDuration(input.s);
    case 'format':
      return BigInt(input.ns);
    case 'unmarshal':
      return parseGoDuration(unmarshal(input.json));
    default:
      return input satisfies never;
  }
}

export function run(input: Input): unknown {
  try {
    const ns = nanoseconds(input);
    const string = formatGoDuration(ns);
    return { nanoseconds: jsonInteger(ns), string, metav1: string };
  } catch (error) {
    if (error instanceof GoDurationError) return { error: true, message: error.message };
    throw error;
  }
}
