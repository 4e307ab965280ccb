import { dirname, resolve } from 'node:path';
import type * as yamlLibrary from './yaml-parts.ts';
import type { YamlFault } from '../base/yaml-document.ts';
import type * as zod from './zod-parts.ts';
import { isJsonObject } from '../base/json-object.ts';
import { nearest } from '../base/nearest.ts';
import { acceptedOptions } from './accepted-options.ts';
import type { AcceptedOption, Kind, OptionWarning } from './option.ts';
import { allOptions, type OptionValues } from './options-table.ts';

type Z = typeof zod;
type Yaml = typeof yamlLibrary;
type Path = readonly (string | number)[];

const KIND = 'KubeletConfiguration';
const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
/** More faults of one kind than these help nobody, and each is looked for in the whole file. */
const MAX_FAULTS = 50;

export interface ParsedConfigFile {
  /** What the file sets. */
  readonly values: Partial<OptionValues>;
  /** What else it sets, to no effect yet. */
  readonly withoutEffect: ReadonlyMap<AcceptedOption, unknown>;
  /** What was passed over: a field that no kubelet has, or that is set twice. */
  readonly warnings: readonly OptionWarning[];
  /** "file:line:column field: expected …, found …"; the rest is valid only when there is none. */
  readonly problems: readonly string[];
}

/**
 * Reads a KubeletConfiguration in YAML 1.1 or JSON: strictly, and where that fails for a field that no Kubernetes release knows or that is
 * set twice, leniently, with a warning for each (loadConfigFile in cmd/kubelet/app). A value of the wrong type is a problem. Relative paths
 * start at the file's directory; zeros mean "not set" where Kubernetes' defaulting says so. `file` is the name to use in messages.
 */
export async function parseConfigFile(text: string, file: string): Promise<ParsedConfigFile> {
  // Loaded here, so that a start without --config does not pay for them.
  const [yaml, z] = await Promise.all([import('./yaml-parts.ts'), import('./zod-parts.ts')]);
  const { document, lines, content, faults: unread, repeated } = yaml.readYamlDocument(text, { repeatedKeys: 'last counts' });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const failed = (...problems: readonly string[]): ParsedConfigFile => ({ values: {}, withoutEffect: new Map(), warnings: [], problems });

  if (unread.length > 0) return failed(...unread.slice(0, MAX_FAULTS).map((fault) => `${at(fault.offset)} ${syntaxFault(fault)}`));
  if (content === null || content === undefined) return failed(`${file}: the file is empty; expected a ${KIND}`);
  if (!isJsonObject(content)) return failed(`${at(0)} expected a ${KIND}, found ${describe(content)}`);

  const tree = configTree();
  const schema = objectSchema(z, tree);
  const faults: { readonly offset: number; readonly text: string }[] = [];
  for (const [field, wanted] of [['apiVersion', API_VERSION] as const, ['kind', KIND] as const]) {
    if (content[field] === wanted) continue;
    const found = content[field] === undefined ? 'none' : describe(content[field]);
    faults.push({ offset: offsetOf(yaml, document, [field], 'value'), text: `${field}: expected ${wanted}, found ${found}` });
  }
  const strict = schema.safeParse(content);
  const unknown = unknownFields(strict.error?.issues ?? []);
  const passedOver = [
    ...repeated.slice(0, MAX_FAULTS).map(({ offset }) => {
      const option = keyAt(text, offset);
      return { offset, option, message: 'config field is set twice: the last one counts' };
    }),
    ...unknown.slice(0, MAX_FAULTS).map(({ path, key }) => {
      const meant = nearest(key, namesUnder(tree, path));
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      return {
        offset: offsetOf(yaml, document, [...path, key], 'key'),
        option: dotted([...path, key]),
        message: `unknown config field is ignored${hint}`,
      };
    }),
  ];
  for (const { path, key } of unknown) {
    const parent = valueAt(content, path);
    if (isJsonObject(parent)) Reflect.deleteProperty(parent, key);
  }
  const parsed = unknown.length === 0 ? strict : schema.safeParse(content);
  for (const issue of parsed.error?.issues.slice(0, MAX_FAULTS) ?? []) {
    const path = pathOf(issue);
    const found = describe(valueAt(content, path), leafAbove(tree, path)?.sensitive);
    faults.push({ offset: offsetOf(yaml, document, path, 'value'), text: `${dotted(path)}: expected ${issue.message}, found ${found}` });
  }
  if (faults.length > 0 || !parsed.success) {
    return failed(...inOrder(faults).map(({ offset, text: fault }) => `${at(offset)} ${fault}`));
  }
  const named = inOrder(passedOver).map(({ offset, option, message }): OptionWarning => ({ message, option, at: at(offset) }));
  const unnamed = repeated.length + unknown.length - passedOver.length;
  const warnings = unnamed === 0 ? named : [...named, { message: `${unnamed} more unknown or repeated config fields`, option: '--config' }];
  return { ...pick(parsed.data, file), warnings, problems: [] };
}

const inOrder = <T extends { readonly offset: number }>(found: readonly T[]): readonly T[] => found.toSorted((a, b) => a.offset - b.offset);

const pathOf = ({ path }: Pick<Issue, 'path'>): Path => path.map((step) => (typeof step === 'symbol' ? String(step) : step));

type Issue = NonNullable<ReturnType<zod.ZodType['safeParse']>['error']>['issues'][number];

function unknownFields(issues: readonly Issue[]): readonly { readonly path: Path; readonly key: string }[] {
  return issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ path: pathOf(issue), key })) : []));
}

/** A key as it is written. */
const keyAt = (text: string, offset: number): string => /^["']?([^"':\s]*)/.exec(text.slice(offset, offset + 100))?.[1] ?? '';

/** In words that do not speak of the library. */
const syntaxFault = ({ code, message }: YamlFault): string =>
  code === 'MULTIPLE_DOCS' ? `expected one ${KIND}, found another document` : message;

/** Values by option name, and the fields that nothing reads yet. */
function pick(data: unknown, file: string): Pick<ParsedConfigFile, 'values' | 'withoutEffect'> {
  const values: [string, unknown][] = [];
  for (const [name, option] of allOptions) {
    const value = option.config === undefined ? undefined : valueAt(data, option.config.split('.'));
    if (value === undefined || value === null || value === '' || (value === 0 && option.zeroInFileIsUnset)) continue;
    values.push([name, option.path && typeof value === 'string' ? resolve(dirname(file), value) : value]);
  }
  const withoutEffect = new Map<AcceptedOption, unknown>();
  for (const option of acceptedOptions) {
    const value = option.config === undefined ? undefined : valueAt(data, option.config.split('.'));
    if (value !== undefined && value !== null) withoutEffect.set(option, value);
  }
  return { values: Object.fromEntries(values), withoutEffect };
}

/** The known fields: a kind for a leaf, a tree for a struct. */
interface ConfigTree extends ReadonlyMap<string, ConfigTree | Kind<unknown>> {}

function configTree(): ConfigTree {
  type Mutable = Map<string, Mutable | Kind<unknown>>;
  const root: Mutable = new Map();
  for (const { config, kind } of [...allOptions.map(([, option]) => option), ...acceptedOptions]) {
    if (config === undefined) continue;
    const steps = config.split('.');
    const last = steps.pop() ?? '';
    let node = root;
    for (const step of steps) {
      const next = node.get(step);
      const child: Mutable = next instanceof Map ? next : new Map();
      node.set(step, child);
      node = child;
    }
    node.set(last, kind);
  }
  return root;
}

function objectSchema(z: Z, tree: ConfigTree, root = true): zod.ZodType {
  const shape: Record<string, zod.ZodType> = root ? { apiVersion: z.unknown().optional(), kind: z.unknown().optional() } : {};
  for (const [name, node] of tree) shape[name] = (isTree(node) ? objectSchema(z, node, false) : node.schema(z)).nullish();
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a map') });
}

const isTree = (node: ConfigTree | Kind<unknown> | undefined): node is ConfigTree => node instanceof Map;

function namesUnder(tree: ConfigTree, path: Path): readonly string[] {
  let node: ConfigTree | undefined = tree;
  for (const step of path) {
    const next: ConfigTree | Kind<unknown> | undefined = node?.get(String(step));
    node = isTree(next) ? next : undefined;
  }
  return [...(node?.keys() ?? [])];
}

function leafAbove(tree: ConfigTree, path: Path): Kind<unknown> | undefined {
  let node: ConfigTree = tree;
  for (const step of path) {
    const next = node.get(String(step));
    if (!isTree(next)) return next;
    node = next;
  }
  return undefined;
}

/** Where the path's last key or its value starts; the nearest enclosing node when it is absent. */
function offsetOf(yaml: Yaml, document: yamlLibrary.Document, path: Path, part: 'key' | 'value'): number {
  const resolved = (node: unknown): unknown => (yaml.isAlias(node) ? node.resolve(document) : node);
  let node: unknown = document.contents;
  let offset = startOf(yaml, node) ?? 0;
  for (const [index, step] of path.entries()) {
    const parent = resolved(node);
    if (yaml.isMap(parent)) {
      const pair = parent.items.find(({ key }) => (yaml.isScalar(key) ? String(key.value) : key) === String(step));
      if (pair === undefined) return offset;
      node = pair.value;
      const isKey = part === 'key' && index === path.length - 1;
      offset = (isKey ? undefined : startOf(yaml, node)) ?? startOf(yaml, pair.key) ?? offset;
    } else if (yaml.isSeq(parent)) {
      node = parent.items[Number(step)];
      offset = startOf(yaml, node) ?? offset;
    }
  }
  return offset;
}

const startOf = (yaml: Yaml, node: unknown): number | undefined => (yaml.isNode(node) ? node.range?.[0] : undefined);

function valueAt(data: unknown, path: Path): unknown {
  let value = data;
  for (const step of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  return value;
}

/** a.b[0].c */
const dotted = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');

function describe(value: unknown, sensitive = false): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a timestamp';
  if (typeof value === 'object') return 'a map';
  if (sensitive) return `a ${typeof value}`;
  if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  return `${typeof value} ${typeof value === 'number' || typeof value === 'boolean' ? value : ''}`.trim();
}
