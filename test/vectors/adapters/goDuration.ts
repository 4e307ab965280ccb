import { goJsonSyntaxError } from '../../../src/model/go-json-syntax.ts';
import { durationFromJson, formatGoDuration, GoDurationError, parseGoDuration } from '../../../src/model/go-duration.ts';
import { jsonInteger } from './json-integer.ts';

type Input =
  | { readonly op: 'parse'; readonly s: string }
  | { readonly op: 'format'; readonly ns: string }
  | { readonly op: 'unmarshal'; readonly json: string };

function nanoseconds(input: Input): bigint {
  switch (input.op) {
    case 'parse':
      return parseGoDuration(input.s);
    case 'format':
      return BigInt(input.ns);
    case 'unmarshal': {
      const malformed = goJsonSyntaxError(input.json);
      if (malformed !== undefined) throw new GoDurationError(malformed);
      return durationFromJson(JSON.parse(input.json));
    }
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
