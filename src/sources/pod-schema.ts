import { podSchemaText } from './pod-schema.generated.ts';

/** What a value must be. */
export type Kind =
  | { readonly is: 'list'; readonly of: Kind }
  | { readonly is: 'map'; readonly of: Kind }
  | { readonly is: 'object'; readonly type: string }
  | ScalarKind<(typeof scalars)[keyof typeof scalars]>;
type ScalarKind<Name> = Name extends string ? { readonly is: Name } : never;

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  /** What Go makes of nothing: a field that is always there, one where empty is not nothing, or one that is dropped when empty. */
  readonly empty: 'always' | 'kept' | 'dropped';
}

const scalars = {
  s: 'string',
  b: 'boolean',
  i: 'int32',
  l: 'int64',
  q: 'quantity',
  p: 'intOrString',
  t: 'time',
  y: 'bytes',
  j: 'json',
} as const;
const isScalar = (text: string): text is keyof typeof scalars => Object.hasOwn(scalars, text);

function parseKind(text: string): Kind {
  if (text.startsWith('[]')) return { is: 'list', of: parseKind(text.slice(2)) };
  if (text.startsWith('{}')) return { is: 'map', of: parseKind(text.slice(2)) };
  return isScalar(text) ? { is: scalars[text] } : { is: 'object', type: text };
}

/** "name:kind", then "!" for always there or "*" for kept when empty. A kind is a letter or a type, after "[]" for a list or "{}" for a map of it. */
function parseField(text: string): Field {
  const [, name = '', kind = '', flag] = /^([^:]+):([^!*]+)([!*]?)$/.exec(text) ?? [];
  const parsed = parseKind(kind);
  return { name, kind: parsed, empty: flag === '!' ? 'always' : flag === '*' || parsed.is === 'object' ? 'kept' : 'dropped' };
}

/** What a manifest may hold beside pods (k8s.io/api/core/v1 types.go); the items of a list are read one by one. */
const objectSchemaText: Readonly<Record<string, string>> = {
  PodList: 'apiVersion:s kind:s metadata:ListMeta',
  ListMeta: 'continue:s remainingItemCount:l* resourceVersion:s selfLink:s',
  ConfigMap: 'apiVersion:s binaryData:{}y data:{}s immutable:b* kind:s metadata:ObjectMeta',
  Secret: 'apiVersion:s data:{}y immutable:b* kind:s metadata:ObjectMeta stringData:{}s type:s',
};

export type PodSchema = (type: string) => ReadonlyMap<string, Field>;

/** The types that a Pod is made of, and ConfigMap and Secret, each parsed when first asked for. Throws on a name that is no type of it. */
export function podSchema(): PodSchema {
  const parsed = new Map<string, ReadonlyMap<string, Field>>();
  return (type) => {
    const known = parsed.get(type);
    if (known !== undefined) return known;
    const text = podSchemaText[type] ?? objectSchemaText[type];
    if (text === undefined) throw new Error(`no type ${type} in the pod schema`);
    const fields = new Map(text.split(' ').map((field) => [field.split(':')[0] ?? '', parseField(field)]));
    parsed.set(type, fields);
    return fields;
  };
}
