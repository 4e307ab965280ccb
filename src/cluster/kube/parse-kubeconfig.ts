import { type Document, isNode, type LineCounter } from 'yaml';
import { isJsonObject } from '../../base/json-object.ts';
import { readYamlDocument } from '../../base/yaml-document.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** A kubeconfig's current context with what it refers to. Values are as written; paths may be relative to the file. */
export interface SelectedContext {
  readonly contextName: string;
  readonly clusterName: string;
  readonly userName: string;
  readonly cluster: KubeconfigFields;
  readonly user: KubeconfigFields;
}

/** One entry's fields, read with the type that they must have. Each throws KubeconfigError naming field and line. */
export interface KubeconfigFields {
  /** Absent and empty are the same. */
  text(field: string): string | undefined;
  flag(field: string): boolean;
  texts(field: string): readonly string[];
  /** A struct: `exec`. */
  fields(field: string): KubeconfigFields | undefined;
  list(field: string): readonly KubeconfigFields[];
  has(field: string): boolean;
  /** Of the fields that are there. */
  names(): readonly string[];
  /** As it is written, for who reads it by other rules. */
  value(): unknown;
  /** "FILE:LINE" of a field, or of the entry. */
  at(field?: string): string;
}

type Path = readonly (string | number)[];

/** Reads a kubeconfig (client-go tools/clientcmd/api/v1), in YAML or JSON. `file` is its name in messages. Throws KubeconfigError. */
export function parseKubeconfig(text: string, file: string): SelectedContext {
  const { document, lines, content, faults } = readYamlDocument(text);
  const [fault] = faults;
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.offset);
    throw new KubeconfigError('malformed', `kubeconfig ${file}:${line}:${col}: ${fault.message}`);
  }
  if (content === null || content === undefined) throw new KubeconfigError('malformed', `kubeconfig ${file} is empty`);
  const root = fieldsAt({ document, lines, file }, [], content);
  if (!isJsonObject(content))
    throw new KubeconfigError('malformed', `kubeconfig ${root.at()}: expected clusters, users and contexts, found none`);

  const contextName = root.text('current-context');
  if (contextName === undefined) {
    const known = namesOf(root, 'contexts');
    throw new KubeconfigError('malformed', `kubeconfig ${file} has no current-context; ${listed('contexts', known)}`);
  }
  const context = entry(root, file, 'context', contextName, `current-context is "${contextName}"`);
  const [clusterName, userName] = [context.text('cluster'), context.text('user')];
  const said = `context "${contextName}" names`;
  if (clusterName === undefined)
    throw new KubeconfigError('malformed', `kubeconfig ${context.at()}: context "${contextName}" names no cluster`);
  return {
    contextName,
    clusterName,
    userName: userName ?? '',
    cluster: entry(root, file, 'cluster', clusterName, `${said} cluster "${clusterName}"`),
    user: userName === undefined ? nothing(context) : entry(root, file, 'user', userName, `${said} user "${userName}"`),
  };
}

/** The entry of that name in `contexts`, `clusters` or `users`: the first one, as client-go takes it. */
function entry(root: KubeconfigFields, file: string, kind: 'context' | 'cluster' | 'user', name: string, said: string): KubeconfigFields {
  const found = root.list(`${kind}s`).find((item) => item.text('name') === name);
  if (found === undefined) {
    throw new KubeconfigError(
      'malformed',
      `kubeconfig ${file}: ${said}, which is not there; ${listed(`${kind}s`, namesOf(root, `${kind}s`))}`,
    );
  }
  return found.fields(kind) ?? nothing(found);
}

function namesOf(root: KubeconfigFields, list: string): readonly string[] {
  return root.list(list).flatMap((item) => item.text('name') ?? []);
}

function listed(what: string, names: readonly string[]): string {
  return names.length === 0 ? `it has no ${what}` : `its ${what} are ${names.map((name) => `"${name}"`).join(', ')}`;
}

/** An entry without fields, at the place of another. */
function nothing(near: KubeconfigFields): KubeconfigFields {
  return {
    text: () => undefined,
    flag: () => false,
    texts: () => [],
    fields: () => undefined,
    list: () => [],
    has: () => false,
    names: () => [],
    value: () => undefined,
    at: () => near.at(),
  };
}

interface Source {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly file: string;
}

function fieldsAt(source: Source, path: Path, here: unknown): KubeconfigFields {
  const { document, lines, file } = source;
  const at = (field?: string): string => {
    const node = [field === undefined ? path : [...path, field], path]
      .map((steps) => (steps.length === 0 ? document.contents : document.getIn(steps, true)))
      .find((found) => isNode(found) && found.range);
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    return `${file}:${lines.linePos(offset).line}`;
  };
  const get = (field: string): unknown => (isJsonObject(here) && Object.hasOwn(here, field) ? (here[field] ?? undefined) : undefined);
  const wrong = (field: string, expected: string): KubeconfigError =>
    new KubeconfigError('malformed', `kubeconfig ${at(field)}: ${field}: expected ${expected}`);
  const read = <T>(field: string, expected: string, fits: (value: unknown) => value is T): T | undefined => {
    const value = get(field);
    if (value === undefined) return undefined;
    if (!fits(value)) throw wrong(field, expected);
    return value;
  };
  const isText = (value: unknown): value is string => typeof value === 'string';
  const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
  return {
    at,
    has: (field) => get(field) !== undefined,
    names: () => (isJsonObject(here) ? Object.keys(here).filter((name) => get(name) !== undefined) : []),
    value: () => here,
    text: (field) => read(field, 'a string', isText) || undefined,
    flag: (field) => read(field, 'true or false', (value) => typeof value === 'boolean') ?? false,
    texts: (field) => read(field, 'a list of strings', (value): value is readonly string[] => isList(value) && value.every(isText)) ?? [],
    fields: (field) => {
      const value = read(field, 'a map', isJsonObject);
      return value === undefined ? undefined : fieldsAt(source, [...path, field], value);
    },
    list: (field) => {
      const items = read(field, 'a list of maps', (value): value is readonly unknown[] => isList(value) && value.every(isJsonObject)) ?? [];
      return items.map((item, index) => fieldsAt(source, [...path, field, index], item));
    },
  };
}
