import type { JSX } from 'preact';
import type { ExplainedState } from '../../src/model/explanation.ts';

/** Told apart by shape as well as by colour. */
const shapes: Readonly<Record<ExplainedState, string>> = {
  well: 'M3 8.5l3.2 3.2L13 4.8',
  waiting: 'M8 4v4.3l2.6 1.6M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z',
  sick: 'M8 2.2L14.6 13.6H1.4zM8 6.4v3.4M8 11.6v.2',
  ended: 'M3.5 3.5h9v9h-9z',
  stopping: 'M5.5 3v10M10.5 3v10',
  gone: 'M2.5 8h11',
  refused: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM3.7 12.3l8.6-8.6',
};

/** A pod's state: a shape in its colour, and the word. */
export function StateMark({ state }: { readonly state: ExplainedState }): JSX.Element {
  return (
    <span class={`state state-${state}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <path d={shapes[state]} fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
      </svg>
      {state}
    </span>
  );
}
