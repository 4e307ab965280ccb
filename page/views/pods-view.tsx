import type { JSX } from 'preact';
import type { ExplainedInShort, ExplainedState } from '../../src/model/explanation.ts';
import { counted } from '../format.ts';
import type { PodFilter } from '../page-state.ts';
import { countsOf, sortedPods } from '../sort-pods.ts';
import { PodRows } from './pod-rows.tsx';
import { StateMark } from './state-mark.tsx';

export interface PodsViewProps {
  readonly pods: readonly ExplainedInShort[] | undefined;
  readonly filter: PodFilter;
  readonly onFilter: (filter: PodFilter) => void;
}

/** All pods, the worst first, each with its true cause. */
export function PodsView({ pods, filter, onFilter }: PodsViewProps): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>Pods</h1>
      {pods === undefined ? <p class="muted loading">Asking the agent…</p> : <KnownPods pods={pods} filter={filter} onFilter={onFilter} />}
    </>
  );
}

function KnownPods({ pods, filter, onFilter }: PodsViewProps & { readonly pods: readonly ExplainedInShort[] }): JSX.Element {
  if (pods.length === 0) {
    return (
      <div class="empty">
        <p>
          <strong>No pods on this node.</strong>
        </p>
        <p>
          A manifest in the directory of <code>--pod-manifest-path</code>, or a pod that the API server binds to the node, shows up here at
          once.
        </p>
      </div>
    );
  }
  const shownPods = sortedPods(pods, filter);
  const toggle = (state: ExplainedState): void => {
    const states = new Set(filter.states);
    if (!states.delete(state)) states.add(state);
    onFilter({ ...filter, states });
  };
  const known = new Map(countsOf(pods));
  // A state that is chosen stays to be unchosen, also where no pod has it any more.
  for (const state of filter.states) if (!known.has(state)) known.set(state, 0);
  return (
    <>
      <div class="pods-bar">
        <div class="chips" role="group" aria-label="States">
          {Array.from(known, ([state, count]) => (
            <button key={state} type="button" class="chip" aria-pressed={filter.states.has(state)} onClick={() => toggle(state)}>
              <StateMark state={state} /> <b>{count}</b>
            </button>
          ))}
        </div>
        <label class="search">
          <span class="visually-hidden">Find pods</span>
          <input
            type="search"
            placeholder="Find pods, or causes"
            value={filter.text}
            onInput={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
          />
        </label>
      </div>
      {shownPods.length === 0 ? (
        <div class="empty">
          <p>
            <strong>None of {counted(pods.length, 'pod')} is like that.</strong>
          </p>
          <button type="button" onClick={() => onFilter({ text: '', states: new Set() })}>
            Show all
          </button>
        </div>
      ) : (
        <PodRows pods={shownPods} />
      )}
    </>
  );
}
