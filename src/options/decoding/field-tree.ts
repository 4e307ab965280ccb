import type { Kind } from '../option.ts';
import type * as zod from '../zod-parts.ts';
import { configFields } from './config-fields.ts';

type Path = readonly (string | number)[];

/** The known fields: a kind for a leaf, a tree for a struct. */
export interface FieldTree extends ReadonlyMap<string, FieldTree | Kind<unknown>> {}

export function fieldTree(): FieldTree {
  type Mutable = Map<string, Mutable | Kind<unknown>>;
  const root: Mutable = new Map();
  for (const { path, kind } of configFields.values()) {
    const steps = path.split('.');
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

/** Of a whole file: every field may be absent or null, and no other may be there. */
export const fileSchema = (z: typeof zod, tree: FieldTree): zod.ZodType => objectSchema(z, tree, ['apiVersion', 'kind']);

function objectSchema(z: typeof zod, tree: FieldTree, others: readonly string[]): zod.ZodType {
  const shape: Record<string, zod.ZodType> = Object.fromEntries(others.map((name) => [name, z.unknown().optional()]));
  for (const [name, node] of tree) shape[name] = (isTree(node) ? objectSchema(z, node, []) : node.schema(z)).nullish();
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a map') });
}

const isTree = (node: FieldTree | Kind<unknown> | undefined): node is FieldTree => node instanceof Map;

/** The fields of a struct. */
export function namesUnder(tree: FieldTree, path: Path): readonly string[] {
  let node: FieldTree | undefined = tree;
  for (const step of path) {
    const next: FieldTree | Kind<unknown> | undefined = node?.get(String(step));
    node = isTree(next) ? next : undefined;
  }
  return [...(node?.keys() ?? [])];
}

/** The field that a path leads to or into; a struct where that is none. */
export function fieldAbove(tree: FieldTree, path: Path): readonly string[] {
  const field: string[] = [];
  let node: FieldTree | Kind<unknown> | undefined = tree;
  for (const step of path) {
    if (!isTree(node)) break;
    field.push(String(step));
    node = node.get(String(step));
  }
  return field;
}

/** The kind of the field that a path leads to or into. */
export function leafAbove(tree: FieldTree, path: Path): Kind<unknown> | undefined {
  let node: FieldTree = tree;
  for (const step of path) {
    const next = node.get(String(step));
    if (!isTree(next)) return next;
    node = next;
  }
  return undefined;
}
