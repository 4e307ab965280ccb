/** The same list, with the objects of the one before where they say the same: what is drawn of them stays as it is. */
export function kept<T>(before: readonly T[] | undefined, now: readonly T[], key: (item: T) => string): readonly T[] {
  if (before === undefined) return now;
  const texts = new Map(before.map((item) => [key(item), { item, text: JSON.stringify(item) }]));
  const all = now.map((item) => {
    const old = texts.get(key(item));
    return old !== undefined && old.text === JSON.stringify(item) ? old.item : item;
  });
  return all.length === before.length && all.every((item, at) => item === before[at]) ? before : all;
}
