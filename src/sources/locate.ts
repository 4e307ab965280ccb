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
  for (const step of stepsOf(field)) {
    if (node.is === 'list') {
      const item = node.items[Number(step)];
      if (item === undefined) return at;
      node = item;
      at = item.at;
    } else if (node.is === 'map') {
      const entry = node.entries.get(step);
      if (entry === undefined) return at;
      node = entry.value;
      at = node.is === 'map' || node.is === 'list' || node.is === 'null' ? entry.keyAt : node.at;
    } else return at;
  }
  return at;
}

/** "spec", "containers", "0": what a bracket holds is one step, whatever it is; one that nothing closes ends the path. */
function* stepsOf(field: string): Generator<string, void, undefined> {
  const plain = /[^.[\]]+/y;
  for (let at = 0; at < field.length;) {
    if (field[at] === '[') {
      const end = field.indexOf(']', at);
      if (end < 0) return;
      yield field.slice(at + 1, end);
      at = end + 1;
      continue;
    }
    plain.lastIndex = at;
    const [name] = plain.exec(field) ?? [];
    if (name !== undefined) yield name;
    at += name?.length ?? 1;
  }
}
