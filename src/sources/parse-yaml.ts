import { type Alias, Composer, isAlias, isCollection, isMap, isPair, isScalar, isSeq, type Pair, Parser, Scalar, type YAMLMap } from 'yaml';
import {
  type DocumentNode,
  type DocumentNote,
  DocumentSyntaxError,
  type MapEntry,
  type MapNode,
  MAX_DEPTH,
  type ParsedDocument,
} from './document.ts';
import { misplacedTab } from './misplaced-tab.ts';
import { resolveYamlScalar } from './resolve-yaml-scalar.ts';

/**
 * YAML with positions, read as Kubernetes reads it: gopkg.in/yaml.v2, then sigs.k8s.io/yaml to JSON. Of several documents the first one
 * counts, of a repeated key the last one; a merge overrides the keys before it. Throws DocumentSyntaxError.
 */
export function parseYaml(text: string): ParsedDocument {
  const forbidden = forbiddenCharacter.exec(text);
  if (forbidden !== null) throw new DocumentSyntaxError('yaml', forbidden.index, 'control characters are not allowed');
  const lines = asLibyamlBreaks(text);
  const tab = misplacedTab(lines);
  if (tab !== undefined) throw new DocumentSyntaxError('yaml', tab, 'Tabs are not allowed as indentation');
  const warnings: DocumentNote[] = [];
  try {
    const [contents, next] = firstDocument(lines);
    if (next !== undefined) warnings.push({ at: next, detail: 'only the first document is read: what follows is ignored' });
    const root = new YamlReader(text, contents, warnings).read();
    return { root: root.is === 'map' ? { ...root, entries: sortedByKey(root.entries) } : root, warnings };
  } catch (error) {
    if (error instanceof RangeError) throw new DocumentSyntaxError('yaml', 0, syntaxMessage(error.message));
    throw error;
  }
}

// What libyaml's reader takes (readerc.go), lone surrogates apart.
// eslint-disable-next-line no-control-regex
const forbiddenCharacter = /[^\t\n\r -~\u0085\u00a0-\ufffd]/;

/** Of the same length: to libyaml a lone CR and NEL end a line too. */
const asLibyamlBreaks = (text: string): string => text.replaceAll(/\r(?!\n)|\u0085/g, '\n');

/** The first document's contents, and where something begins that is no part of it: behind a closing brace that may be anything. */
function firstDocument(text: string): readonly [contents: unknown, next: number | undefined] {
  const composer = new Composer({ version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, prettyErrors: false });
  const documents = composer.compose(new Parser().parse(text), true, text.length);
  const { value: document } = documents.next();
  const { contents, errors = [], warnings = [] } = document ?? {};
  const end = isCollection(contents) && contents.flow === true ? contents.range?.[1] : undefined;
  const error = errors.find(({ code, pos: [at] }) => end === undefined || at < end || code !== 'UNEXPECTED_TOKEN');
  if (error !== undefined) throw new DocumentSyntaxError('yaml', error.pos[0], syntaxMessage(error.message));
  const directive = warnings.find(({ code }) => code === 'BAD_DIRECTIVE');
  if (directive !== undefined) throw new DocumentSyntaxError('yaml', directive.pos[0], directive.message);
  return [contents, errors[0]?.pos[0] ?? nextDocument(documents)];
}

/** Many end their files with a separator that separates nothing. */
function nextDocument(documents: Iterable<{ readonly contents: unknown; readonly range: readonly number[] }>): number | undefined {
  for (const { contents, range } of documents) if (contents !== null && !(isScalar(contents) && contents.source === '')) return range[0];
  return undefined;
}

/** The parser reports its exhausted stack as a fault of the text, which it is. */
const syntaxMessage = (message: string): string => (message.startsWith('Maximum call stack') ? 'nested too deeply' : message);

/** Nodes to values. Counts what aliases unfold to, by the limits of yaml.v2 (decode.go), so that a small text cannot become a huge pod. */
class YamlReader {
  readonly #text: string;
  readonly #contents: unknown;
  readonly #warnings: DocumentNote[];
  readonly #targets = new Map<Alias, unknown>();
  readonly #open = new Set<Alias>();
  #decoded = 0;
  #aliased = 0;

  constructor(text: string, contents: unknown, warnings: DocumentNote[]) {
    this.#text = text;
    this.#contents = contents;
    this.#warnings = warnings;
  }

  read(): DocumentNode {
    this.#linkAliases(this.#contents, new Map());
    return this.#value(this.#contents, 0, 0);
  }

  /** An alias means the last anchor of its name that was written before it, which may be the one around it. */
  #linkAliases(node: unknown, anchors: Map<string, unknown>): void {
    if (isAlias(node)) {
      if (!anchors.has(node.source))
        throw new DocumentSyntaxError('yaml', startOf(node, 0), `unknown anchor ${JSON.stringify(node.source)}`);
      this.#targets.set(node, anchors.get(node.source));
    } else if (isPair(node)) {
      this.#linkAliases(node.key, anchors);
      this.#linkAliases(node.value, anchors);
    } else if (isScalar(node) || isMap(node) || isSeq(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (!isScalar(node)) for (const item of node.items) this.#linkAliases(item, anchors);
    }
  }

  #count(at: number): void {
    this.#decoded++;
    if (this.#open.size > 0) this.#aliased++;
    const ratio = this.#aliased / this.#decoded;
    if (this.#aliased > 100 && this.#decoded > 1000 && ratio > allowedAliasRatio(this.#decoded)) {
      throw new DocumentSyntaxError('yaml', at, 'the document contains excessive aliasing');
    }
  }

  #value(node: unknown, near: number, depth: number): DocumentNode {
    const at = startOf(node, near);
    this.#count(at);
    if (depth > MAX_DEPTH) throw new DocumentSyntaxError('yaml', at, `nested more than ${MAX_DEPTH} levels deep`);
    if (isAlias(node)) return this.#followed(node, at, (target) => this.#value(target, at, depth + 1));
    if (isScalar(node)) {
      const [before, escape] = (node.type === Scalar.QUOTE_DOUBLE && foreignEscape.exec(this.#text.slice(at, node.range?.[1]))) || [];
      if (before !== undefined && escape !== undefined) {
        throw new DocumentSyntaxError('yaml', at + before.length - escape.length, `Invalid escape sequence ${escape}`);
      }
      const resolved = resolveYamlScalar({ text: node.source ?? '', plain: isPlain(node), tag: node.tag, at });
      if (typeof resolved === 'string') throw new DocumentSyntaxError('yaml', at, resolved);
      return resolved;
    }
    if (isMap(node)) {
      const entries = new Map<string, MapEntry>();
      this.#fill(entries, node, depth);
      return { is: 'map', at, entries };
    }
    if (isPair(node)) {
      const entries = new Map<string, MapEntry>();
      this.#put(entries, node, at, depth);
      return { is: 'map', at, entries };
    }
    if (isSeq(node)) return { is: 'list', at, items: node.items.map((item) => this.#value(item, at, depth + 1)) };
    return { is: 'null', at };
  }

  #followed<T>(alias: Alias, at: number, read: (target: unknown) => T): T {
    if (this.#open.has(alias)) throw new DocumentSyntaxError('yaml', at, `the anchor ${JSON.stringify(alias.source)} contains itself`);
    this.#open.add(alias);
    const value = read(this.#targets.get(alias));
    this.#open.delete(alias);
    return value;
  }

  #fill(entries: Map<string, MapEntry>, map: YAMLMap, depth: number): void {
    const seen = new Set<string>();
    for (const pair of map.items) {
      const at = startOf(pair.key, startOf(map, 0));
      if (isScalar(pair.key) && isMergeKey(pair.key)) this.#merge(entries, pair.value, at, depth);
      else {
        const key = this.#put(entries, pair, at, depth);
        if (seen.has(key)) this.#warnings.push({ at, detail: `the key ${JSON.stringify(key)} is repeated: the last one counts` });
        seen.add(key);
      }
    }
  }

  #put(entries: Map<string, MapEntry>, pair: Pair, near: number, depth: number): string {
    const keyAt = startOf(pair.key, near);
    const key = keyText(this.#value(pair.key, near, depth + 1));
    if (key === undefined) throw new DocumentSyntaxError('yaml', keyAt, 'a key must be a string, a number or a boolean');
    entries.set(key, { keyAt, value: this.#value(pair.value, endOf(pair.key, keyAt), depth + 1) });
    return key;
  }

  /** Of several maps the first one wins. */
  #merge(entries: Map<string, MapEntry>, value: unknown, at: number, depth: number): void {
    const wrong = (): DocumentSyntaxError =>
      new DocumentSyntaxError('yaml', at, 'a map merge requires a map or a list of maps as its value');
    if (depth > MAX_DEPTH) throw wrong();
    if (isSeq(value)) {
      for (const item of value.items.toReversed()) {
        if (!isMap(item) && !(isAlias(item) && isMap(this.#targets.get(item)))) throw wrong();
        this.#merge(entries, item, at, depth + 1);
      }
      return;
    }
    this.#count(at);
    if (isAlias(value)) this.#followed(value, at, (target) => this.#merge(entries, target, at, depth + 1));
    else if (isMap(value)) this.#fill(entries, value, depth + 1);
    else throw wrong();
  }
}

/** JSON and YAML 1.2 have the escaped slash and characters in two halves, libyaml has neither. */
const foreignEscape = /^(?:[^\\]|\\(?!\/|u[dD][89a-fA-F])[^])*?(\\(?:\/|u[dD][89a-fA-F]..))/;
const isPlain = (node: Scalar): boolean => node.type === undefined || node.type === Scalar.PLAIN;
const isMergeKey = (node: Scalar): boolean =>
  node.source === '<<' && (node.tag === undefined ? isPlain(node) : node.tag.endsWith(':merge'));

/** A node without one, such as the value after a lone key, stands where it was expected. */
const startOf = (node: unknown, near: number): number =>
  (isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined) ?? near;
const endOf = (node: unknown, near: number): number => (isScalar(node) ? node.range?.[1] : undefined) ?? near;

/** As sigs.k8s.io/yaml prints it; a fraction has a float32's digits there. Undefined for what cannot be one. */
function keyText(key: DocumentNode): string | undefined {
  if (key.is === 'string') return key.value;
  if (key.is === 'boolean') return String(key.value);
  return key.is === 'number' ? key.text : undefined;
}

/** A Go map lies between YAML and the JSON that Kubernetes decodes: of "kind" and "Kind" the one counts that sorts last. */
const sortedByKey = (entries: MapNode['entries']): MapNode['entries'] => new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

/** 99 % of a small document may come from aliases, 10 % of a very large one. */
function allowedAliasRatio(decoded: number): number {
  const [low, high] = [400_000, 4_000_000];
  if (decoded <= low) return 0.99;
  return decoded >= high ? 0.1 : 0.99 - 0.89 * ((decoded - low) / (high - low));
}
