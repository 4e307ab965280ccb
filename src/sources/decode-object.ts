import { nearest } from '../base/nearest.ts';
import { Quantity, QuantityParseError } from '../model/quantity.ts';
import { describeNode, type DocumentNode, kindOf, type MapNode, toPlain } from './document.ts';
import { normalizeTime } from './go-time.ts';
import type { Field, Kind, PodSchema } from './pod-schema.ts';

export interface DecodeFault {
  readonly type: 'type' | 'quantity' | 'time';
  readonly at: number;
  readonly field: string;
  readonly detail: string;
}

export interface UnknownField {
  readonly at: number;
  readonly field: string;
  readonly detail: string;
}

export interface DecodedObject {
  readonly value: Readonly<Record<string, unknown>>;
  readonly faults: readonly DecodeFault[];
  readonly warnings: readonly UnknownField[];
  /** What the value no longer shows of the way it was written, though Go's value would: `path=text` of quantities, `path=[]` of empty collections. */
  readonly asWritten: readonly string[];
}

/** More faults than these are no help. */
const MAX_FAULTS = 50;
const limits = { int32: 2n ** 31n, int64: 2n ** 63n };

/**
 * One object of the schema, decoded as Kubernetes' JSON decoder does into Go and printed again: null is nothing, fields that no one knows
 * are dropped, so are empty values where Go cannot tell them from nothing, and required values are there even when empty. Never throws on
 * any document; the value is good for use only when there are no faults.
 */
export function decodeObject(schema: PodSchema, type: string, node: MapNode): DecodedObject {
  const decoder = new ObjectDecoder(schema);
  const value = decoder.object(type, node, '');
  return { value, faults: decoder.faults, warnings: decoder.warnings, asWritten: decoder.asWritten };
}

class ObjectDecoder {
  readonly faults: DecodeFault[] = [];
  readonly warnings: UnknownField[] = [];
  readonly asWritten: string[] = [];
  readonly #schema: PodSchema;

  constructor(schema: PodSchema) {
    this.#schema = schema;
  }

  object(type: string, node: MapNode | undefined, path: string): Readonly<Record<string, unknown>> {
    const fields = this.#schema(type);
    const value: Record<string, unknown> = {};
    for (const [name, entry] of node?.entries ?? []) {
      const field = fields.get(name);
      if (field === undefined) {
        this.#unknown(name, entry.keyAt, path, fields.keys());
        continue;
      }
      const decoded = this.#field(field, entry.value, join(path, name));
      if (decoded !== undefined) value[name] = decoded;
    }
    for (const field of fields.values()) {
      if (field.empty !== 'always' || value[field.name] !== undefined) continue;
      const zero = this.#zero(field.kind, join(path, field.name));
      if (zero !== undefined) value[field.name] = zero;
    }
    return value;
  }

  #field(field: Field, node: DocumentNode, path: string): unknown {
    if (node.is === 'null' && field.empty === 'kept') return undefined;
    const value = this.#value(field.kind, node, path);
    if (field.empty !== 'dropped') return value;
    if (value === '' || value === 0 || value === false) return undefined;
    if (!isEmptyCollection(field.kind, value)) return value;
    this.asWritten.push(`${path}=[]`);
    return undefined;
  }

  /** A list's or map's element is there even when it is null. */
  #element(kind: Kind, node: DocumentNode, path: string): unknown {
    return this.#value(kind, node, path) ?? this.#zero(kind, path) ?? null;
  }

  #value(kind: Kind, node: DocumentNode, path: string): unknown {
    if (kind.is === 'json') return toPlain(node);
    if (kind.is === 'quantity') return this.#quantity(node, path);
    if (node.is === 'null') return undefined;
    switch (kind.is) {
      case 'object':
        return node.is === 'map' ? this.object(kind.type, node, path) : this.#wrong(node, path, 'a map');
      case 'list':
        if (node.is !== 'list') return this.#wrong(node, path, 'a list');
        return node.items.map((item, i) => this.#element(kind.of, item, `${path}[${i}]`));
      case 'map': {
        if (node.is !== 'map') return this.#wrong(node, path, 'a map');
        const entries = [...node.entries].map(([key, entry]) => [key, this.#element(kind.of, entry.value, `${path}[${key}]`)] as const);
        return Object.fromEntries(entries);
      }
      case 'string':
      case 'bytes':
        return node.is === 'string' ? node.value : this.#wrong(node, path, 'a string');
      case 'boolean':
        return node.is === 'boolean' ? node.value : this.#wrong(node, path, 'a boolean');
      case 'int32':
      case 'int64':
        return this.#integer(kind.is, node, path, 'an integer');
      case 'intOrString':
        return node.is === 'string' ? node.value : this.#integer('int32', node, path, 'an integer or a string');
      case 'time':
        return this.#time(node, path);
    }
    return kind satisfies never;
  }

  #integer(size: 'int32' | 'int64', node: DocumentNode, path: string, expected: string): number | undefined {
    if (node.is !== 'number' || !/^-?[0-9]+$/.test(node.text)) return this.#wrong(node, path, expected);
    const value = BigInt(node.text);
    const limit = limits[size];
    if (value < -limit || value >= limit) return this.#wrong(node, path, `${expected} of ${size.slice(3)} bits`);
    return Number(value);
  }

  #quantity(node: DocumentNode, path: string): string | undefined {
    if (node.is === 'null') return '0';
    const written = node.is === 'string' ? node.value : node.is === 'number' ? node.text : undefined;
    if (written === undefined) {
      this.#fault('quantity', node, path, `expected a quantity such as 500m, 1.5 or 64Mi, found ${describeNode(node)}`);
      return undefined;
    }
    try {
      const canonical = Quantity.fromJson(written).canonical();
      if (canonical !== written) this.asWritten.push(`${path}=${written}`);
      return canonical;
    } catch (error) {
      if (!(error instanceof QuantityParseError)) throw error;
      const hint = quantityHint(written);
      this.#fault(
        'quantity',
        node,
        path,
        `expected a quantity such as 500m, 1.5 or 64Mi, found ${describeNode(node)}${hint}: ${error.message}`,
      );
      return undefined;
    }
  }

  #time(node: DocumentNode, path: string): string | undefined {
    if (node.is !== 'string') return this.#wrong(node, path, 'a time');
    const time = normalizeTime(node.value);
    if (time === undefined) {
      this.#fault('time', node, path, `expected a time such as 2006-01-02T15:04:05Z, found ${describeNode(node)}`);
    }
    return time === '' ? undefined : time;
  }

  #zero(kind: Kind, path: string): unknown {
    switch (kind.is) {
      case 'object':
        return this.object(kind.type, undefined, path);
      case 'string':
        return '';
      case 'boolean':
        return false;
      case 'int32':
      case 'int64':
      case 'intOrString':
        return 0;
      case 'quantity':
        return '0';
      case 'list':
      case 'map':
      case 'bytes':
      case 'time':
      case 'json':
        return undefined;
    }
    return kind satisfies never;
  }

  #wrong(node: DocumentNode, path: string, expected: string): undefined {
    const quote = expected === 'a string' && (node.is === 'number' || node.is === 'boolean') ? ' (put it in quotes)' : '';
    const found = mayBeSecret.test(path) ? kindOf(node) : describeNode(node);
    this.#fault('type', node, path, `expected ${expected}, found ${found}${quote}`);
  }

  #fault(type: DecodeFault['type'], { at }: DocumentNode, field: string, detail: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ type, at, field, detail });
  }

  #unknown(name: string, at: number, path: string, known: Iterable<string>): void {
    if (this.warnings.length >= MAX_FAULTS) return;
    const meant = nearest(name, known);
    const hint = meant === undefined ? '' : ` (did you mean ${JSON.stringify(meant)}?)`;
    this.warnings.push({ at, field: join(path, name), detail: `unknown field, ignored${hint}` });
  }
}

/** Where passwords stand in a pod's spec, though they should not. */
const mayBeSecret = /\.(?:env\[\d+\]\.value|httpHeaders\[\d+\]\.value|args\[\d+\]|command\[\d+\])$/;

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function isEmptyCollection(kind: Kind, value: unknown): boolean {
  if (kind.is === 'list') return Array.isArray(value) && value.length === 0;
  return kind.is === 'map' && typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** 1GB, 64MB and 512KB are the usual slips. */
function quantityHint(written: string): string {
  const [, number, prefix] = /^([0-9.]+) ?([kKMGTPE])[bB]$/.exec(written) ?? [];
  return number === undefined || prefix === undefined ? '' : ` (did you mean "${number}${prefix.toUpperCase()}i"?)`;
}
