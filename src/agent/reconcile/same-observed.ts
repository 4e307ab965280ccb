import { Quantity } from '../../model/quantity.ts';
import type { ObservedPod } from '../../ports/container-runtime.ts';

/** Whether two looks at a pod have found the same. Compared as they stand: most looks find what the one before has found. */
export function sameObserved(one: ObservedPod, other: ObservedPod): boolean {
  return same(one, other);
}

function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (one instanceof Quantity) return other instanceof Quantity && one.canonical() === other.canonical();
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length || Array.isArray(one) !== Array.isArray(other)) return false;
  for (const key of keys) if (!Object.hasOwn(other, key) || !same(Reflect.get(one, key), Reflect.get(other, key))) return false;
  return true;
}
