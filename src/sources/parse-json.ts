import { type DocumentNode, type DocumentNote, DocumentSyntaxError, type MapEntry, MAX_DEPTH, type ParsedDocument } from './document.ts';

/** JSON with positions, as strict as encoding/json. A repeated key's maps and lists are merged, else its last value wins. Throws DocumentSyntaxError. */
export function parseJson(text: string): ParsedDocument {
  const warnings: DocumentNote[] = [];
  let at = 0;

  const fail = (expected: string): DocumentSyntaxError => {
    const found = at >= text.length ? 'the end of the text' : JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
    return new DocumentSyntaxError('json', at, `expected ${expected}, found ${found}`);
  };
  const skipSpace = (): void => {
    for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09; code = text.charCodeAt(at)) at++;
  };
  const take = (char: string): boolean => {
    if (text[at] !== char) return false;
    at++;
    return true;
  };

  const parseString = (): string => {
    const start = at++;
    let escaped = false;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      if (!(code >= 0x20)) throw fail('a closing quote');
      if (code === BACKSLASH) {
        escaped = true;
        const length = escapeLength(text, at);
        if (length === 0) throw fail('a valid escape');
        at += length;
      } else at++;
    }
    at++;
    return escaped ? (JSON.parse(text.slice(start, at)) as string).toWellFormed() : text.slice(start + 1, at - 1);
  };

  const parseMap = (depth: number): ParsedNode => {
    const start = at++;
    const entries = new Map<string, ParsedEntry>();
    skipSpace();
    if (take('}')) return { is: 'map', at: start, entries };
    for (;;) {
      skipSpace();
      if (text[at] !== '"') throw fail('a key in quotes');
      const keyAt = at;
      const key = parseString();
      skipSpace();
      if (!take(':')) throw fail('":" after the key');
      const value = parseValue(depth);
      const earlier = entries.get(key);
      if (earlier !== undefined) warnings.push({ at: keyAt, detail: `the key ${JSON.stringify(key)} is repeated: the last one counts` });
      entries.set(key, { keyAt, value: earlier === undefined ? value : merge(earlier.value, value) });
      skipSpace();
      if (take('}')) return { is: 'map', at: start, entries };
      if (!take(',')) throw fail('"," or "}"');
    }
  };

  const parseList = (depth: number): ParsedNode => {
    const start = at++;
    const items: ParsedNode[] = [];
    skipSpace();
    if (take(']')) return { is: 'list', at: start, items };
    for (;;) {
      items.push(parseValue(depth));
      skipSpace();
      if (take(']')) return { is: 'list', at: start, items };
      if (!take(',')) throw fail('"," or "]"');
    }
  };

  const parseValue = (depth: number): ParsedNode => {
    skipSpace();
    if (depth > MAX_DEPTH) throw new DocumentSyntaxError('json', at, `nested more than ${MAX_DEPTH} levels deep`);
    const start = at;
    switch (text.charAt(at)) {
      case '{':
        return parseMap(depth + 1);
      case '[':
        return parseList(depth + 1);
      case '"':
        return { is: 'string', at: start, value: parseString() };
      default: {
        const literal = literalPattern.exec(text.slice(at, at + MAX_LITERAL))?.[0];
        if (literal === undefined) throw fail('a value');
        at += literal.length;
        if (literal === 'null') return { is: 'null', at: start };
        if (literal === 'true' || literal === 'false') return { is: 'boolean', at: start, value: literal === 'true' };
        return { is: 'number', at: start, text: literal };
      }
    }
  };

  const root = parseValue(0);
  skipSpace();
  if (at < text.length) throw fail('the end of the text');
  return { root, warnings };
}

/** Longer numbers mean nothing to any field. */
const MAX_LITERAL = 400;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const literalPattern = /^(?:null|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/;

/** 0 when it is none. */
function escapeLength(text: string, at: number): number {
  if ('"\\/bfnrt'.includes(text[at + 1] ?? ' ')) return 2;
  return /^\\u[0-9a-fA-F]{4}/.test(text.slice(at, at + 6)) ? 6 : 0;
}

/**
 * Go decodes what is repeated into what it already has: maps key by key, lists item by item. The earlier map itself is filled, so that
 * this costs what is repeated and no more; it belongs to this parse alone.
 */
function merge(earlier: ParsedNode, later: ParsedNode): ParsedNode {
  if (earlier.is === 'list' && later.is === 'list') {
    const old = earlier.items;
    return { ...later, items: later.items.map((item, i) => merge(old[i] ?? item, item)) };
  }
  if (earlier.is !== 'map' || later.is !== 'map' || earlier === later) return later;
  const { entries } = earlier;
  for (const [key, entry] of later.entries) {
    const old = entries.get(key);
    entries.set(key, old === undefined ? entry : { ...entry, value: merge(old.value, entry.value) });
  }
  return { ...later, entries };
}

/** A document that is still being parsed. */
type ParsedNode =
  | Exclude<DocumentNode, { readonly is: 'list' | 'map' }>
  | { readonly is: 'list'; readonly at: number; readonly items: readonly ParsedNode[] }
  | { readonly is: 'map'; readonly at: number; readonly entries: Map<string, ParsedEntry> };

interface ParsedEntry extends MapEntry {
  readonly value: ParsedNode;
}
