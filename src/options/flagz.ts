import { withoutPassword } from './configz.ts';
import type { KubeletOptions } from './kubelet-options.ts';
import { allOptions } from './options-table.ts';

/** What /flagz shows: every honoured flag and its value as it would be written after `--flag=`, without values that may hold credentials. */
export function flagz(options: KubeletOptions): ReadonlyMap<string, string> {
  const values: Readonly<Record<string, unknown>> = { ...options };
  return new Map(
    allOptions.flatMap(([name, { flag, kind }]) => {
      const value = values[name];
      if (flag === undefined || value === undefined || value === null) return [];
      return [[flag, kind.sensitive === true ? 'CLASSIFIED' : withoutPassword(kind.show(value))] as const];
    }),
  );
}
