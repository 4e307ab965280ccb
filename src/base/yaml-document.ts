import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';

export interface YamlFault {
  readonly offset: number;
  /** "MULTIPLE_DOCS" among others: the library's name for what is wrong. */
  readonly code: string;
  readonly message: string;
}

export interface YamlDocument {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  /** Of values that YAML's own types have; undefined where there is a fault. */
  readonly content: unknown;
  readonly faults: readonly YamlFault[];
  /** Keys that their map has already, where the last one counts. */
  readonly repeated: readonly YamlFault[];
}

export interface ReadYamlOptions {
  /** What a repeated key is. Default: a fault. */
  readonly repeatedKeys?: 'fault' | 'last counts';
}

/** Each alias costs a walk through the document. Files for people have a few. */
const MAX_ALIASES = 100;

/**
 * Reads one document of YAML 1.1, or JSON, in time that grows with its length alone: the library itself compares each key with all the
 * others of its map. One alias too many is a fault, as is one inside of what it stands for. Never throws.
 */
export function readYamlDocument(text: string, { repeatedKeys = 'fault' }: ReadYamlOptions = {}): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { version: '1.1', lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const errors = document.errors.map(({ pos: [offset], code, message }) => ({ offset, code, message: inPlainWords(message) }));
  // What the library makes of the rest then is not so.
  const tooDeep = errors.find(({ message }) => message === TOO_DEEP);
  const found = tooDeep ? [tooDeep] : errors.length > 0 ? errors : faultsOf(document);
  const repeated = repeatedKeys === 'fault' ? [] : found.filter(({ code }) => code === REPEATED);
  const faults = repeated.length === 0 ? found : found.filter(({ code }) => code !== REPEATED);
  if (faults.length > 0) return { document, lines, content: undefined, faults, repeated };
  try {
    return { document, lines, content: document.toJS(), faults, repeated };
  } catch (error) {
    // An alias of nothing, or of what unfolds to too much; nesting that exhausts the stack.
    const message = error instanceof RangeError ? TOO_DEEP : error instanceof Error ? error.message : String(error);
    return { document, lines, content: undefined, faults: [{ offset: 0, code: 'BAD_ALIAS', message }], repeated };
  }
}

function faultsOf(document: Document.Parsed): readonly YamlFault[] {
  const faults: YamlFault[] = [];
  let aliases = 0;
  try {
    visit(document, {
      Alias: (_, alias, above) => {
        aliases++;
        const target = aliases <= MAX_ALIASES ? alias.resolve(document) : undefined;
        const holdsItself = target !== undefined && above.some((node) => node === target);
        if (aliases <= MAX_ALIASES && !holdsItself) return undefined;
        const message = holdsItself ? `the anchor ${JSON.stringify(alias.source)} contains itself` : `more than ${MAX_ALIASES} aliases`;
        faults.push({ offset: alias.range?.[0] ?? 0, code: 'BAD_ALIAS', message });
        return visit.BREAK;
      },
      Map: (_, { items }) => {
        const seen = new Set<unknown>();
        for (const { key } of items) {
          const value: unknown = isScalar(key) ? key.value : key;
          if (seen.has(value)) faults.push({ offset: offsetOf(key), code: REPEATED, message: 'Map keys must be unique' });
          seen.add(value);
        }
      },
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ offset: 0, code: 'RESOURCE_EXHAUSTION', message: TOO_DEEP }];
  }
  return faults;
}

const TOO_DEEP = 'nested too deeply';
/** It is the engine's own error, wherever in the library the stack ends. */
const inPlainWords = (message: string): string => (/^Maximum call stack|: Stack overflow$/.test(message) ? TOO_DEEP : message);

const REPEATED = 'DUPLICATE_KEY';
const offsetOf = (key: unknown): number => (isScalar(key) ? (key.range?.[0] ?? 0) : 0);
