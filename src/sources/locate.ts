import type { DocumentNode } from './document.ts';

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Turns offsets of one text into lines and columns, both from 1. The text is looked through when the first one is asked for. */
export function locator(text: string): (offset: number) => Position {
  let starts: readonly number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

/** Where a field path such as `spec.containers[0].env[1].name` stands, or the nearest thing around it. */
export function offsetOfField(root: DocumentNode, field: string): number {
  let node = root;
  let at = root.at;
  for (const [, name, key] of field.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (node.is === 'list') {
      const item = node.items[Number(key)];
      if (item === undefined) return at;
      node = item;
      at = item.at;
    } else if (node.is === 'map') {
      const entry = node.entries.get(name ?? key ?? '');
      if (entry === undefined) return at;
      node = entry.value;
      at = node.is === 'map' || node.is === 'list' || node.is === 'null' ? entry.keyAt : node.at;
    } else return at;
  }
  return at;
}
