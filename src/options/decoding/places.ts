import type * as yamlLibrary from '../yaml-parts.ts';

type Yaml = typeof yamlLibrary;
export type Path = readonly (string | number)[];

/** Where the path's last key or its value starts; the nearest enclosing node when it is absent. */
export function offsetOf(yaml: Yaml, document: yamlLibrary.Document, path: Path, part: 'key' | 'value'): number {
  const resolved = (node: unknown): unknown => (yaml.isAlias(node) ? node.resolve(document) : node);
  let node: unknown = document.contents;
  let offset = startOf(yaml, node) ?? 0;
  for (const [index, step] of path.entries()) {
    const parent = resolved(node);
    if (yaml.isMap(parent)) {
      // Of a key that is repeated the last one counts.
      const pair = parent.items.findLast(({ key }) => (yaml.isScalar(key) ? String(key.value) : key) === String(step));
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

/** a.b[0].c */
export const dotted = (path: Path): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
