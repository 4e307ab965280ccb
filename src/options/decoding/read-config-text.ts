import { isJsonObject, type JsonObject } from '../../base/json-object.ts';
import { nearest } from '../../base/nearest.ts';
import type { YamlFault } from '../../base/yaml-document.ts';
import type { OptionWarning } from '../option.ts';
import { allOptions } from '../options-table.ts';
import type * as yamlLibrary from '../yaml-parts.ts';
import type * as zod from '../zod-parts.ts';
import { describeValue } from './describe-value.ts';
import { fieldAbove, type FieldTree, fieldTree, fileSchema, leafAbove, namesUnder } from './field-tree.ts';
import { withPresentNames } from './former-names.ts';
import { dotted, offsetOf, type Path } from './places.ts';
import { type Settings, settingsOf, valueAt } from './settings.ts';

const KIND = 'KubeletConfiguration';
const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
/** More faults of one kind than these help no reader, and each is looked for in the whole file. */
const MAX_FAULTS = 50;

/** What one file says. */
export interface ReadConfig {
  /** Its fields as they are written, without those that no Kubernetes release knows, and those with a problem. */
  readonly content: JsonObject;
  readonly settings: Settings;
  /** What was passed over: a field that no kubelet has, or that is set twice. */
  readonly warnings: readonly OptionWarning[];
  /** Why Kubernetes does not decode it: "file:line:column field: expected …, found …". The rest is what else it says. */
  readonly problems: readonly string[];
  /** Values that Kubernetes decodes and this agent does not take, in the same words. */
  readonly refusals: readonly string[];
  /** The fields of both. */
  readonly faulty: ReadonlySet<string>;
  /** "file:line:column" of a field's value. */
  placeOf(path: Path): string;
}

/**
 * Reads a KubeletConfiguration in YAML 1.1 or JSON: strictly, and where that fails for a field that no Kubernetes release knows or that is
 * set twice, leniently, with a warning for each (loadConfigFile in cmd/kubelet/app). A value of the wrong type is a problem; in a drop-in file,
 * which is not read leniently, so is a field that is set twice. `file` is the name to use in messages.
 */
export async function readConfigText(text: string, file: string, role: Role = 'config'): Promise<ReadConfig> {
  return (await configReader())(text, file, role);
}

type Role = 'config' | 'drop-in';

/** `readConfigText` for many files: what they all need is made once. */
export async function configReader(): Promise<(text: string, file: string, role: Role) => ReadConfig> {
  // Loaded here, so that a start without a file does not pay for them.
  const [yaml, z] = await Promise.all([import('../yaml-parts.ts'), import('../zod-parts.ts')]);
  const tree = fieldTree();
  const schema = fileSchema(z, tree);
  return (text, file, role) => readWith({ yaml, z, tree, schema }, text, file, role);
}

interface Decoder {
  readonly yaml: typeof yamlLibrary;
  readonly z: typeof zod;
  readonly tree: FieldTree;
  readonly schema: zod.ZodType;
}

function readWith({ yaml, z, tree, schema }: Decoder, text: string, file: string, role: Role): ReadConfig {
  const {
    document,
    lines,
    content: decoded,
    faults: unread,
    repeated,
  } = yaml.readYamlDocument(text, {
    repeatedKeys: role === 'config' ? 'last counts' : 'fault',
  });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const said = (found: readonly Fault[]): readonly string[] => [
    ...new Set(inOrder(found).map((fault) => `${at(fault.offset)} ${fault.text}`)),
  ];
  const failed = (...problems: readonly string[]): ReadConfig => ({ ...nothing, placeOf: () => at(0), problems });

  if (unread.length > 0) return failed(...said(unread.slice(0, MAX_FAULTS).map((fault) => ({ ...fault, text: syntaxFault(fault) }))));
  if (decoded === null || decoded === undefined) return failed(`${file}: the file is empty; expected a ${KIND}`);
  if (!isJsonObject(decoded)) return failed(`${at(0)} expected a ${KIND}, found ${describeValue(decoded)}`);
  const { content, former, writtenAs } = withPresentNames(decoded);

  const faultAt = (path: Path, expected: string): Fault => {
    const found = valueAt(content, path);
    const shown = found === undefined && path.length === 1 ? 'none' : describeValue(found, leafAbove(tree, path)?.sensitive);
    return {
      offset: offsetOf(yaml, document, writtenAs(path), 'value'),
      text: `${dotted(writtenAs(path))}: expected ${expected}, found ${shown}`,
    };
  };
  const faults: Fault[] = [];
  for (const [field, wanted] of [['apiVersion', API_VERSION] as const, ['kind', KIND] as const]) {
    if (content[field] !== wanted) faults.push(faultAt([field], wanted));
  }
  const strict = schema.safeParse(content);
  const unknown = unknownFields(strict.error?.issues ?? []);
  const passedOver = [
    ...repeated.slice(0, MAX_FAULTS).map(({ offset }) => {
      return { offset, option: keyAt(text, offset), message: 'config field is set twice: the last one counts' };
    }),
    ...former.map(({ field, message }) => ({ offset: offsetOf(yaml, document, [field], 'key'), option: field, message })),
    ...unknown.slice(0, MAX_FAULTS).map(({ path, key }) => {
      const meant = nearest(key, namesUnder(tree, path));
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      const offset = offsetOf(yaml, document, [...path, key], 'key');
      return { offset, option: dotted([...path, key]), message: `unknown config field is ignored${hint}` };
    }),
  ];
  for (const { path, key } of unknown) {
    const parent = valueAt(content, path);
    if (isJsonObject(parent)) Reflect.deleteProperty(parent, key);
  }
  let parsed = unknown.length === 0 ? strict : schema.safeParse(content);
  const issues = parsed.error?.issues ?? [];
  for (const issue of issues.slice(0, MAX_FAULTS)) faults.push(faultAt(pathOf(issue), issue.message));
  const wrong = issues.map((issue) => faultyPart(tree, pathOf(issue)));
  const faulty = new Set(wrong.map((path) => path.join('.')));
  // What is wrong is left out, so that the rest can be looked at as well.
  for (const path of wrong) remove(content, path);
  if (!parsed.success) parsed = schema.safeParse(content);
  if (!parsed.success) return failed(...said(faults));
  const settings = settingsOf(parsed.data);
  const refusals = refusedValues(z, settings, content);
  for (const issue of refusals) faulty.add(fieldAbove(tree, pathOf(issue)).join('.'));
  const refused = refusals.map((issue) => faultAt(pathOf(issue), issue.message));
  const named = inOrder(passedOver).map(({ offset, option, message }): OptionWarning => ({ message, option, at: at(offset) }));
  const unnamed = repeated.length + former.length + unknown.length - passedOver.length;
  const warnings = unnamed === 0 ? named : [...named, { message: `${unnamed} more unknown or repeated config fields`, option: '--config' }];
  const placeOf = (path: Path): string => at(offsetOf(yaml, document, writtenAs(path), 'value'));
  return { content, settings, warnings, problems: said(faults), refusals: said(refused), faulty, placeOf };
}

interface Fault {
  readonly offset: number;
  readonly text: string;
}

const nothing: Omit<ReadConfig, 'problems' | 'placeOf'> = {
  content: {},
  settings: new Map(),
  warnings: [],
  refusals: [],
  faulty: new Set(),
};

const inOrder = <T extends { readonly offset: number }>(found: readonly T[]): readonly T[] => found.toSorted((a, b) => a.offset - b.offset);

type Issue = NonNullable<ReturnType<zod.ZodType['safeParse']>['error']>['issues'][number];

const pathOf = ({ path }: Pick<Issue, 'path'>): Path => path.map((step) => (typeof step === 'symbol' ? String(step) : step));

function unknownFields(issues: readonly Issue[]): readonly { readonly path: Path; readonly key: string }[] {
  return issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ path: pathOf(issue), key })) : []));
}

/** What is left out for a fault: its field, or of the gates the one that it is in, as each stands by itself. */
function faultyPart(tree: FieldTree, path: Path): readonly string[] {
  return path[0] === 'featureGates' && path.length === 2 ? path.map(String) : fieldAbove(tree, path);
}

function remove(from: JsonObject, path: readonly string[]): void {
  const parent = path.length === 1 ? from : valueAt(from, path.slice(0, -1));
  if (isJsonObject(parent)) Reflect.deleteProperty(parent, path.at(-1) ?? '');
}

/** A key as it is written. */
const keyAt = (text: string, offset: number): string => /^["']?([^"':\s]*)/.exec(text.slice(offset, offset + 100))?.[1] ?? '';

/** In words that do not speak of the library. */
function syntaxFault({ code, message }: YamlFault): string {
  if (code === 'MULTIPLE_DOCS') return `expected one ${KIND}, found another document`;
  return code === 'DUPLICATE_KEY' ? 'a field is set twice in its map' : message;
}

/** Where this agent takes less than Kubernetes decodes: one word out of a few, an address. */
function refusedValues(z: typeof zod, settings: Settings, content: JsonObject): readonly Issue[] {
  return allOptions.flatMap(([, { config, kind }]) => {
    if (config === undefined || kind.inFile === undefined || !settings.has(config)) return [];
    const path = config.split('.');
    const issues = kind.schema(z).safeParse(valueAt(content, path)).error?.issues ?? [];
    return issues.slice(0, MAX_FAULTS).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
  });
}
