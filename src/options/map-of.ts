import { isJsonObject, type JsonObject } from '../base/json-object.ts';
import type * as zod from './zod-parts.ts';

/** A map from any names to `values`. Every name that is written counts: zod's own record passes `__proto__` over without a word. */
export function mapOf<T>(z: typeof zod, values: zod.ZodType<T>, expected = 'a map'): zod.ZodType<Readonly<Record<string, T>>> {
  return z.unknown().transform((written, context) => {
    if (!isMap(written)) {
      context.addIssue({ code: 'custom', message: expected });
      return z.NEVER;
    }
    const read = Object.entries(written).flatMap(([name, value]) => {
      const { data, error } = values.safeParse(value);
      if (error === undefined) return [[name, data] as const];
      for (const { message, path } of error.issues) context.addIssue({ code: 'custom', message, path: [name, ...path] });
      return [];
    });
    return Object.fromEntries(read);
  });
}

/** Not what YAML has types of its own for: a set, an ordered map, a timestamp. */
const isMap = (value: unknown): value is JsonObject => isJsonObject(value) && Object.getPrototypeOf(value) === Object.prototype;
