/** Of the form of recordings: one that has another cannot be replayed. */
export const RECORDING_VERSION = 1;

/** The first line. */
export interface Header {
  readonly recording: 'rxlet';
  readonly version: number;
  /** The agent's version. */
  readonly agent: string;
  readonly nowMs: number;
  readonly monotonicMs: number;
  readonly seed: number;
  /** Of the list that were wanted. */
  readonly capabilities: readonly string[];
  /** As `toJson` makes them. */
  readonly options: unknown;
}

/** An argument from outside: a value, a signal that may abort later, or a function whose answers are read. */
export type Argument = { readonly v: unknown } | { readonly signal: number } | { readonly fn: true };

/** Something came in. */
export type Input =
  | { readonly in: 'start' }
  /** A call was answered. `reason`: it was rejected with the reason of the signal that it was given. */
  | ({ readonly in: 'answer'; readonly of: number } & Outcome)
  | { readonly in: 'timer'; readonly of: number }
  /** A stream's value. */
  | { readonly in: 'value'; readonly of: number; readonly v: unknown }
  /** A function inside was called: by its name, or as argument `at` of the call `of`. */
  | { readonly in: 'call'; readonly name?: string; readonly of?: number; readonly at?: string; readonly args: readonly Argument[] }
  | { readonly in: 'follow' | 'unfollow'; readonly name: string; readonly of: number }
  | { readonly in: 'abort'; readonly of: number; readonly reason: unknown };

export type Outcome = { readonly v: unknown } | { readonly error: unknown } | { readonly reason: true };

/** An input with its time: on the monotonic time, and the date where that has not moved along with it. */
export type InputLine = Input & { readonly t: number; readonly d?: number };

/** What the agent did until the next input, as far as it has to be known. */
export type Effect =
  | { readonly ask: number; readonly name: string; readonly about: string }
  | ({ readonly read: string } & Outcome)
  | { readonly decided: string };

/** The last line of a recording that the agent ended itself: what is before it is whole. */
export interface End {
  readonly end: true;
}

export type Line = InputLine | Effect | Header | End;
