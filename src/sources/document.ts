/** A document as it was written, each value with the offset where it stands. Numbers keep their text as JSON prints it. */
export type DocumentNode =
  | { readonly is: 'null'; readonly at: number }
  | { readonly is: 'boolean'; readonly at: number; readonly value: boolean; readonly source?: string }
  | { readonly is: 'number'; readonly at: number; readonly text: string; readonly source?: string }
  | { readonly is: 'string'; readonly at: number; readonly value: string }
  | { readonly is: 'list'; readonly at: number; readonly items: readonly DocumentNode[] }
  | MapNode;

export interface MapNode {
  readonly is: 'map';
  readonly at: number;
  readonly entries: ReadonlyMap<string, MapEntry>;
}

export interface MapEntry {
  readonly keyAt: number;
  readonly value: DocumentNode;
}

/** Something to tell the author of a document, at an offset. */
export interface DocumentNote {
  readonly at: number;
  readonly detail: string;
}

export interface ParsedDocument {
  readonly root: DocumentNode;
  readonly warnings: readonly DocumentNote[];
}

/** Not the notation that it should be. */
export class DocumentSyntaxError extends Error {
  override readonly name = 'DocumentSyntaxError';
  readonly format: 'yaml' | 'json';
  readonly at: number;

  constructor(format: 'yaml' | 'json', at: number, message: string) {
    super(message);
    this.format = format;
    this.at = at;
  }
}

/** Deeper nesting is refused, so that no document can exhaust the stack. A pod needs fewer than 20 levels. */
export const MAX_DEPTH = 500;

export function toPlain(node: DocumentNode): unknown {
  switch (node.is) {
    case 'null':
      return null;
    case 'boolean':
    case 'string':
      return node.value;
    case 'number':
      return Number(node.text);
    case 'list':
      return node.items.map(toPlain);
    case 'map':
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, toPlain(value)]));
  }
  return node satisfies never;
}

/** A value in the words of a fault. */
export function describeNode(node: DocumentNode): string {
  switch (node.is) {
    case 'null':
      return 'null';
    case 'boolean':
      return `boolean ${node.source ?? node.value}`;
    case 'number':
      return `number ${node.source ?? node.text}`;
    case 'string':
      return `string ${JSON.stringify(node.value.length > 60 ? `${node.value.slice(0, 57)}...` : node.value)}`;
    case 'list':
    case 'map':
      return `a ${node.is}`;
  }
  return node satisfies never;
}

/** The same without the value. */
export const kindOf = ({ is }: DocumentNode): string => (is === 'null' ? is : `a ${is}`);
