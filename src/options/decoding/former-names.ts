import type { JsonObject } from '../../base/json-object.ts';
import { formerFields } from './config-fields.ts';
import type { Path } from './places.ts';

export interface PresentNames {
  readonly content: JsonObject;
  /** Fields that were found under another name, and what to say of each. */
  readonly former: readonly { readonly field: string; readonly message: string }[];
  /** The same path as the file has it. */
  readonly writtenAs: (path: Path) => Path;
}

/** A file's content with fields of Kubernetes 1.3 under the names that they have by now. Where both are there, the present one counts. */
export function withPresentNames(content: JsonObject): PresentNames {
  const found = Object.keys(content).filter((field) => formerFields.has(field));
  if (found.length === 0) return { content, former: [], writtenAs: (path) => path };
  const written = new Map<string | number | undefined, string>();
  const entries = Object.entries(content).flatMap(([field, value]): readonly (readonly [string, unknown])[] => {
    const now = formerFields.get(field)?.now ?? field;
    if (now === field) return [[field, value]];
    if (Object.hasOwn(content, now)) return [];
    written.set(now, field);
    return [[now, value]];
  });
  return {
    content: Object.fromEntries(entries),
    former: found.map((field) => {
      const { now, flag } = formerFields.get(field) ?? {};
      const message =
        now === undefined ? `config field is deprecated: it is the flag --${flag}` : `config field is deprecated: its name is ${now}`;
      return { field, message };
    }),
    writtenAs: (path) => {
      const [field, ...rest] = path;
      const old = written.get(field);
      return old === undefined ? path : [old, ...rest];
    },
  };
}
