import { goJsonSyntaxError } from '../../../src/model/go-json-syntax.ts';
import { trimSpace } from '../../../src/model/go-text.ts';
import { Quantity, QuantityParseError } from '../../../src/model/quantity.ts';
import { jsonInteger } from './json-integer.ts';

type Input =
  | { readonly op: 'parse' | 'canonicalize'; readonly s: string }
  | { readonly op: 'unmarshal'; readonly json: string }
  | { readonly op: 'roundUp'; readonly s: string; readonly scale: number }
  | { readonly op: 'add' | 'sub' | 'cmp'; readonly a: string; readonly b: string };

const int64 = (n: bigint): unknown => (BigInt.asIntN(64, n) === n ? jsonInteger(n) : null);
const show = (q: Quantity): Record<string, unknown> => ({
  canonical: q.canonical(),
  value: int64(q.value()),
  milliValue: int64(q.milliValue()),
  format: q.format,
});

/** Where `1e3` is still written so, and escapes are not read. */
function unmarshal(json: string): Quantity {
  const malformed = goJsonSyntaxError(json);
  if (malformed !== undefined) throw new QuantityParseError(malformed);
  const text = json.trim();
  return text === 'null' ? Quantity.fromJson(null) : Quantity.parse(trimSpace(text.replace(/^"(.*)"$/s, '$1')));
}

function answer(input: Input): unknown {
  switch (input.op) {
    case 'parse':
      return show(Quantity.parse(input.s));
    case 'unmarshal':
      return show(unmarshal(input.json));
    case 'canonicalize':
      return Quantity.parse(input.s).canonicalParts();
    case 'roundUp': {
      const q = Quantity.parse(input.s);
      const rounded = q.roundUp(input.scale);
      return { ...show(rounded), exact: rounded.cmp(q) === 0 };
    }
    case 'add':
      return show(Quantity.parse(input.a).add(Quantity.parse(input.b)));
    case 'sub':
      return show(Quantity.parse(input.a).sub(Quantity.parse(input.b)));
    case 'cmp':
      return Quantity.parse(input.a).cmp(Quantity.parse(input.b));
    default:
      return input satisfies never;
  }
}

export function run(input: Input): unknown {
  try {
    return answer(input);
  } catch (error) {
    if (error instanceof QuantityParseError) return { error: true, message: error.message };
    throw error;
  }
}
