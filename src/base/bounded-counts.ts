import { OTHER, seriesName } from './series-name.ts';

/** How often each name comes; of too many different names those that come after the first ones are counted together, as "other"; so are long ones. */
export function boundedCounts(names: Iterable<string>, most = 500): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const each of names) {
    const name = seriesName(each);
    const key = counts.has(name) || counts.size < most ? name : OTHER;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
