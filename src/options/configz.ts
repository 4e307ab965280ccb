import { REDACTED } from '../base/without-credentials.ts';
import type { KubeletOptions } from './kubelet-options.ts';
import { allOptions } from './options-table.ts';

type Tree = Record<string, unknown>;

/**
 * What /configz shows: every honoured option that a KubeletConfiguration has a field for, under that field's path and as a config file
 * would have it. Values of kinds that may hold credentials, and passwords in URLs, are left out.
 */
export function configz(options: KubeletOptions): Readonly<Record<string, unknown>> {
  const config: Tree = {};
  const values: Readonly<Record<string, unknown>> = { ...options };
  for (const [name, { config: path, kind }] of allOptions) {
    const value = values[name];
    if (path === undefined || value === undefined || value === null) continue;
    const shown = kind.write ? kind.write(value) : value;
    put(config, path.split('.'), kind.sensitive === true ? masked(shown) : typeof shown === 'string' ? withoutPassword(shown) : shown);
  }
  return config;
}

function put(into: Tree, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  const inner = into[first];
  const tree: Tree = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  into[first] = tree;
  put(tree, rest, value);
}

/** The names stay: they tell that something was set. */
function masked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return REDACTED;
  return Object.fromEntries(Object.keys(value).map((name) => [name, [REDACTED]]));
}

/** Without a URL's password, and without its query, which may hold a key. */
export function withoutPassword(value: string): string {
  if (!value.includes('://')) return value;
  return value.replace(/(:\/\/[^/\s@:]*):[^/\s]*@/, `$1:${REDACTED}@`).replace(/\?.*/s, `?${REDACTED}`);
}
