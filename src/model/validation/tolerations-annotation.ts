import { goJsonSyntaxError } from '../go-json-syntax.ts';
import { foldCase } from '../go-text.ts';
import type { Toleration } from './tolerations.ts';

/** Field names in any case are read, as Go does; the types are those its messages name. */
const fields: ReadonlyMap<string, readonly [goName: string, jsonName: keyof Toleration, goType: string]> = new Map([
  ['key', ['Key', 'key', 'string']],
  ['operator', ['Operator', 'operator', 'core.TolerationOperator']],
  ['value', ['Value', 'value', 'string']],
  ['effect', ['Effect', 'effect', 'core.TaintEffect']],
  ['tolerationseconds', ['TolerationSeconds', 'tolerationSeconds', 'int64']],
]);

/** Go reads an integer from the digits, and 1e2 has none such. */
class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  isInt64(): boolean {
    return /^-?[0-9]+$/.test(this.text) && BigInt.asIntN(64, BigInt(this.text)) === BigInt(this.text);
  }
}

const keepDigits = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value;

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value instanceof NumberText) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

class TypeFault extends Error {}

function readToleration(value: unknown): Toleration {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof NumberText) {
    throw new TypeFault(`json: cannot unmarshal ${kindOf(value)} into Go value of type core.Toleration`);
  }
  const read: Record<string, unknown> = {};
  for (const [key, given] of Object.entries(value)) {
    const field = fields.get(foldCase(key));
    if (field === undefined || given === null) continue;
    const [goName, jsonName, goType] = field;
    const wantsNumber = goType === 'int64';
    const number = given instanceof NumberText ? given : undefined;
    if (wantsNumber ? number?.isInt64() !== true : typeof given !== 'string') {
      const kind = number !== undefined && wantsNumber ? `number ${number.text}` : kindOf(given);
      throw new TypeFault(`json: cannot unmarshal ${kind} into Go struct field Toleration.${goName} of type ${goType}`);
    }
    read[jsonName] = number === undefined ? given : Number(number.text);
  }
  return read;
}

/** The tolerations in the annotation that came before the field, or Go's words on why there are none. */
export function readTolerationsAnnotation(json: string): readonly Toleration[] | string {
  const malformed = goJsonSyntaxError(json);
  if (malformed !== undefined) return malformed;
  const value: unknown = JSON.parse(json, keepDigits);
  if (value === null) return [];
  if (!Array.isArray(value)) return `json: cannot unmarshal ${kindOf(value)} into Go value of type []core.Toleration`;
  try {
    return value.map(readToleration);
  } catch (error) {
    if (error instanceof TypeFault) return error.message;
    throw error;
  }
}
