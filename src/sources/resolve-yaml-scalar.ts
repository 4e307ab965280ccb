import type { DocumentNode } from './document.ts';

/** A scalar as the parser found it. `tag` is the explicit one, in its long form; `plain` means without quotes and not a block. */
export interface YamlScalar {
  readonly text: string;
  readonly plain: boolean;
  readonly tag: string | undefined;
  readonly at: number;
}

const core = 'tag:yaml.org,2002:';
const nulls = new Set(['', '~', 'null', 'Null', 'NULL']);
const truths = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const falsehoods = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']);
const endless = /^(?:\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const timestamp =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?)?$/;

/**
 * What a scalar means to gopkg.in/yaml.v2 (resolve.go), which Kubernetes reads manifests with: YAML 1.1, but for sexagesimals (12:30
 * is a string) and dates (strings too). Returns the words of a fault for what it refuses.
 */
export function resolveYamlScalar({ text, plain, tag, at }: YamlScalar): DocumentNode | string {
  const string = (value: string): DocumentNode => ({ is: 'string', at, value });
  if (tag === undefined) return plain ? resolvePlain(text, at) : string(text);
  switch (tag.startsWith(core) ? tag.slice(core.length) : '') {
    case 'str':
      return string(text);
    case 'binary':
      return /^(?:[A-Za-z0-9+/\r\n]*)={0,2}[\r\n]*$/.test(text)
        ? string(Buffer.from(text, 'base64').toString('utf8'))
        : '!!binary value contains invalid base64 data';
    case 'timestamp':
      return timestamp.test(text) ? string(text) : `cannot read ${JSON.stringify(text)} as !!timestamp`;
    case 'bool':
    case 'int':
    case 'float':
    case 'null': {
      const resolved = resolvePlain(text, at);
      if (typeof resolved === 'string') return resolved;
      const kind = tag.slice(core.length);
      const fits =
        kind === 'null'
          ? resolved.is === 'null'
          : kind === 'bool'
            ? resolved.is === 'boolean'
            : resolved.is === 'number' && (kind === 'float' || /^-?[0-9]+$/.test(resolved.text));
      return fits ? resolved : `cannot read ${JSON.stringify(text)} as !!${kind}`;
    }
    default:
      return string(text);
  }
}

function resolvePlain(source: string, at: number): DocumentNode | string {
  if (nulls.has(source)) return { is: 'null', at };
  if (truths.has(source)) return { is: 'boolean', at, value: true, source };
  if (falsehoods.has(source)) return { is: 'boolean', at, value: false, source };
  if (!/^[-+.0-9]/.test(source)) return { is: 'string', at, value: source };
  if (endless.test(source)) return `${source} has no meaning in JSON`;
  const number = timestamp.test(source) ? undefined : readNumber(source);
  return number === undefined ? { is: 'string', at, value: source } : { is: 'number', at, text: number, source };
}

/** As JSON text; undefined when it is no number. */
function readNumber(source: string): string | undefined {
  const digits = source.replaceAll('_', '');
  const [, minus = '', whole] =
    /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|[0-9]+)$/.exec(source.startsWith('.') ? '' : digits) ?? [];
  // Go reads a leading zero as octal; 089 is none and goes on as a float.
  const isOctal = whole !== undefined && /^0[0-9]/.test(whole);
  if (whole !== undefined && !(isOctal && /[89]/.test(whole))) {
    const size = BigInt(isOctal ? `0o${whole.slice(1)}` : whole.toLowerCase());
    const value = minus === '-' ? -size : size;
    if (value >= -(2n ** 63n) && value < (minus === '' ? 2n ** 64n : 2n ** 63n)) return String(value);
  }
  // Behind a leading point Go itself reads it, which takes underscores between digits alone.
  const decimal = source.startsWith('.') ? source.replaceAll(/(?<=[0-9])_(?=[0-9])/g, '') : digits;
  if (!float.test(decimal)) return undefined;
  const value = Number(decimal);
  if (!Number.isFinite(value)) return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}
