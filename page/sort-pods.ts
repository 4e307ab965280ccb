import type { ExplainedInShort, ExplainedState } from '../src/model/explanation.ts';
import type { PodFilter } from './page-state.ts';

/** The worst first, as `rxlet watch` has them. */
export const states: readonly ExplainedState[] = ['sick', 'refused', 'waiting', 'stopping', 'well', 'ended', 'gone'];

/** Those that pass the filter: the worst first, then by name. */
export function sortedPods(pods: readonly ExplainedInShort[], { text, states: wanted }: PodFilter): readonly ExplainedInShort[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return pods
    .filter((each) => {
      if (wanted.size > 0 && !wanted.has(each.state)) return false;
      const all = `${each.pod} ${each.state} ${each.phase ?? ''} ${each.cause?.text ?? ''}`.toLowerCase();
      return words.every((word) => all.includes(word));
    })
    .toSorted((a, b) => states.indexOf(a.state) - states.indexOf(b.state) || (a.pod < b.pod ? -1 : a.pod > b.pod ? 1 : 0));
}

/** How many of each state, in their order; those that there are none of are left out. */
export function countsOf(pods: readonly ExplainedInShort[]): readonly (readonly [ExplainedState, number])[] {
  return states.map((state) => [state, pods.filter((each) => each.state === state).length] as const).filter(([, count]) => count > 0);
}
