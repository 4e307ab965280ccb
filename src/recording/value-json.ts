import { ContainerStartError, type ContainerStartReason } from '../model/container-start-error.ts';
import { Quantity } from '../model/quantity.ts';
import { SandboxImageMissingError } from '../model/sandbox-image-missing-error.ts';
import { type JsonObject, isJsonObject } from '../base/json-object.ts';
import { SomePods } from '../ports/pod-source.ts';

/** Marks what JSON has no form for, and objects that have such a field themselves: options of a volume may have any. */
const TAG = '$';
/** Deeper than any object of Kubernetes, and than any error's causes. */
const DEEPEST = 100;

/** Changes texts on their way into a recording. */
export type HideText = (text: string) => string;

/**
 * A value as plain JSON. Keeps what JSON has no form for: undefined in lists, bigints, maps, sets, quantities, errors by the classes that the
 * agent tells apart, with their causes. Fields that are undefined are left out, and so are functions.
 */
export function toJson(value: unknown, hide: HideText = (text) => text, depth = 0): unknown {
  const inner = (each: unknown): unknown => toJson(each, hide, depth + 1);
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'bigint') return { [TAG]: 'bigint', of: String(value) };
  if (typeof value === 'number' && !Number.isFinite(value)) return { [TAG]: 'number', of: String(value) };
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') return { [TAG]: 'undefined' };
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) throw new RangeError(`a value nests deeper than ${DEEPEST} levels`);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Map) return { [TAG]: 'map', of: [...value].map((entry) => entry.map(inner)) };
  if (value instanceof Set) return { [TAG]: 'set', of: [...value].map(inner) };
  if (value instanceof Quantity) return { [TAG]: 'quantity', of: value.toString() };
  if (value instanceof SomePods) return { [TAG]: 'some pods', of: { put: inner(value.put), gone: inner(value.gone) } };
  if (value instanceof Error) return { [TAG]: 'error', of: errorToJson(value, inner) };
  const fields = Object.entries(value).filter(([, each]) => each !== undefined && typeof each !== 'function');
  const plain = Object.fromEntries(fields.map(([key, each]) => [key, inner(each)]));
  return Object.hasOwn(plain, TAG) ? { [TAG]: 'object', of: Object.entries(plain) } : plain;
}

function errorToJson(error: Error, inner: (value: unknown) => unknown): JsonObject {
  const { name, message, cause } = error;
  const kind = error instanceof ContainerStartError ? 'start' : error instanceof SandboxImageMissingError ? 'sandbox image' : undefined;
  const own = Object.entries(error)
    .filter(([key]) => key !== 'name' && key !== 'cause' && key !== 'message')
    .filter(([, each]) => isPlain(each));
  return {
    ...(kind === undefined ? {} : { kind }),
    name,
    message: inner(message),
    ...(cause === undefined ? {} : { cause: inner(cause) }),
    ...(own.length === 0 ? {} : { own: inner(Object.fromEntries(own)) }),
  };
}

/** Whether it is data: an error may also hold on to what it was thrown in, such as a connection, with all that hangs on that. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Error) return true;
  const of: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value)
    ? value.every(isPlain)
    : of === null || of === Object.prototype || value instanceof Map || value instanceof Set;
}

/** As toJson; what has no form is written as such, and cannot be read. */
export function toJsonAtAll(value: unknown, hide?: HideText): unknown {
  try {
    return toJson(value, hide);
  } catch (error) {
    return { [TAG]: error instanceof Error ? error.message : String(error) };
  }
}

/** What `toJson` was given. Throws on what it has not made. */
export function fromJson(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(fromJson);
  if (!isJsonObject(json)) return json;
  const tag = json[TAG];
  if (typeof tag === 'string') return tagged(tag, json['of']);
  return Object.fromEntries(Object.entries(json).map(([key, each]) => [key, fromJson(each)]));
}

function tagged(tag: string, of: unknown): unknown {
  switch (tag) {
    case 'undefined':
      return undefined;
    case 'bigint':
      return BigInt(String(of));
    case 'number':
      return Number(of);
    case 'map':
      return new Map(list(of).map((entry): [unknown, unknown] => [fromJson(list(entry)[0]), fromJson(list(entry)[1])]));
    case 'set':
      return new Set(list(of).map(fromJson));
    case 'quantity':
      return Quantity.parse(String(of));
    case 'some pods':
      return new SomePods(fromJson(of) as ConstructorParameters<typeof SomePods>[0]);
    case 'object':
      return Object.fromEntries(list(of).map((field) => [String(list(field)[0]), fromJson(list(field)[1])]));
    case 'error':
      return errorFromJson(isJsonObject(of) ? of : {});
    default:
      throw new Error(`a value of the unknown kind ${JSON.stringify(tag)}`);
  }
}

function errorFromJson({ kind, name, message, cause, own }: JsonObject): Error {
  const fields = fromJson(own ?? {}) as JsonObject;
  const text = String(message);
  const options = cause === undefined ? {} : { cause: fromJson(cause) };
  const error =
    kind === 'start'
      ? new ContainerStartError(fields['reason'] as ContainerStartReason, text, options)
      : kind === 'sandbox image'
        ? new SandboxImageMissingError('', '', '', options)
        : new Error(text, options);
  error.message = text;
  if (error.name !== name) Object.defineProperty(error, 'name', { value: String(name), configurable: true, writable: true });
  return Object.assign(error, fields);
}

function list(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new Error('a list is missing');
  return json;
}
