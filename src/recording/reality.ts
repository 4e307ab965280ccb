/** What lies outside sees what is real, and never what stands for it inside. */
export type RealOf = WeakMap<object, object>;

/** The same, after it is known for each what it stands for. */
export function remembered<T>(inside: readonly T[], real: readonly T[] | undefined, realOf: RealOf): readonly T[] {
  for (const [index, each] of inside.entries()) {
    const one = real?.[index];
    if (typeof each === 'object' && each !== null && typeof one === 'object' && one !== null) realOf.set(each, one);
  }
  return inside;
}
