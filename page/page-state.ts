import type { ExplainedInShort, ExplainedNode, ExplainedState, Explanation } from '../src/model/explanation.ts';
import type { StreamEntry } from '../src/model/stream-entry.ts';

export type Connection =
  | { readonly is: 'connecting' }
  | { readonly is: 'live' }
  /** What is shown is from before; `nextTryMs`: a date of the browser's. */
  | { readonly is: 'lost'; readonly sinceMs: number; readonly why: string; readonly nextTryMs: number }
  /** The agent asks who it is (401), or who it is may not (403). */
  | { readonly is: 'refused'; readonly status: number; readonly why: string };

export type Route =
  | { readonly view: 'pods' }
  | { readonly view: 'pod'; readonly pod: string }
  | { readonly view: 'node' }
  | { readonly view: 'stream' }
  | { readonly view: 'plan' };

/** What is known of one part of what is shown. */
export type Loaded<T> =
  | { readonly is: 'loading' }
  | { readonly is: 'here'; readonly value: T }
  | { readonly is: 'failed'; readonly why: string };

export interface PodFilter {
  readonly text: string;
  /** Empty: all. */
  readonly states: ReadonlySet<ExplainedState>;
}

/** The one pod that is looked at. */
export interface PodDetail {
  readonly pod: string;
  readonly explanations: Loaded<readonly Explanation[]>;
  /** Oldest first. */
  readonly past: Loaded<readonly StreamEntry[]>;
}

/** All that the page shows. Never changed: replaced. */
export interface PageState {
  readonly connection: Connection;
  readonly route: Route;
  /** By how much the agent's clock is ahead of the browser's. Milliseconds. */
  readonly aheadMs: number;
  /** Undefined: not asked yet. */
  readonly pods: readonly ExplainedInShort[] | undefined;
  readonly filter: PodFilter;
  readonly node: ExplainedNode | undefined;
  /** What happened last, oldest first; a bounded number. */
  readonly entries: readonly StreamEntry[];
  readonly detail: PodDetail | undefined;
}

export const firstState: PageState = {
  connection: { is: 'connecting' },
  route: { view: 'pods' },
  aheadMs: 0,
  pods: undefined,
  filter: { text: '', states: new Set() },
  node: undefined,
  entries: [],
  detail: undefined,
};
