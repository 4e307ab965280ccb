import type { SourceName } from './pod.ts';

/** What somebody who asks "why is this pod in this state?" is answered. Plain JSON; all times are dates in milliseconds since the epoch. */
export interface Explanation {
  /** "namespace/name"; of a manifest that makes no pod the name as far as it can be read, or the file's. */
  readonly pod: string;
  /** Undefined: there is no pod, only a manifest that makes none. */
  readonly uid?: string;
  readonly origin: ExplainedOrigin;
  readonly state: ExplainedState;
  /** As its status says: "Running". */
  readonly phase?: string;
  /** Since when its phase is that. */
  readonly sinceMs?: number;
  /** The true one first. Empty: there is nothing to explain. */
  readonly causes: readonly Cause[];
  readonly containers: readonly ExplainedContainer[];
  /** What is being done at this moment. */
  readonly underWay?: { readonly what: string; readonly sinceMs: number };
  /** The last look at it that did something, or else the last one. */
  readonly decision?: ExplainedDecision;
  /** When it is looked at again; undefined: when something changes. */
  readonly nextLookMs?: number;
  /** Oldest first. */
  readonly events: readonly ExplainedEvent[];
}

/**
 * well: as declared. waiting: on its way, or held up by what passes. sick: something is wrong that does not pass by itself. ended: for good.
 * stopping: on its way out. gone: nothing of it is left. refused: it may not run here, or its manifest is none.
 */
export type ExplainedState = 'well' | 'waiting' | 'sick' | 'ended' | 'stopping' | 'gone' | 'refused';

export interface ExplainedOrigin {
  readonly source?: SourceName;
  /** A path, or a URL without credentials. */
  readonly where?: string;
  readonly line?: number;
}

/** fault: does not pass by itself. wait: passes. note: does not keep the pod from running. */
export type CauseKind = 'fault' | 'wait' | 'note';

export interface Cause {
  /** A constant word for programs: "image-not-found". */
  readonly code: string;
  readonly kind: CauseKind;
  /** One sentence. */
  readonly text: string;
  /** In the words of what refused or failed; undefined where they are in `text`. */
  readonly detail?: string;
  readonly container?: string;
  readonly sinceMs?: number;
  /** When this is over, or is tried again. */
  readonly untilMs?: number;
  /** What a person can do. */
  readonly advice?: string;
}

export interface ExplainedContainer {
  readonly name: string;
  readonly kind: 'app' | 'init' | 'sidecar' | 'ephemeral';
  readonly image?: string;
  /** What is declared: "runs and is ready", "has ended with 0", "has stopped". */
  readonly desired: string;
  /** "running, not ready", "waiting: ImagePullBackOff", "exited with 1 (Error)". */
  readonly observed: string;
  readonly sinceMs?: number;
  readonly restarts: number;
  /** Whether it is as declared. */
  readonly isWell: boolean;
  readonly pull?: ExplainedPull;
  readonly probes: readonly ExplainedProbe[];
  /** What it wrote last, before it ended or stopped being well. Oldest first. */
  readonly lastLines?: readonly string[];
}

export interface ExplainedPull {
  readonly stage: 'waiting' | 'begun' | 'under way' | 'failed' | 'backing off' | 'stopped' | 'pulled';
  readonly sinceMs: number;
  /** From 0 to 100. */
  readonly percent?: number;
  readonly bytesDone?: number;
  readonly bytes?: number;
  readonly msLeft?: number;
  readonly attempt?: number;
  readonly retryAtMs?: number;
  readonly error?: string;
}

export interface ExplainedProbe {
  readonly kind: 'liveness' | 'readiness' | 'startup';
  /** The last five, oldest first. */
  readonly tries: readonly { readonly atMs: number; readonly tookMs: number; readonly outcome: string; readonly message: string }[];
}

export interface ExplainedDecision {
  readonly atMs: number;
  readonly woken: readonly string[];
  readonly because: readonly string[];
  /** "startContainer app: ok (120 ms)" */
  readonly did: readonly string[];
  readonly failed?: string;
}

export interface ExplainedEvent {
  readonly atMs: number;
  readonly times: number;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly container?: string;
}

/** One line of the list of all pods. */
export interface ExplainedInShort {
  readonly pod: string;
  readonly uid?: string;
  readonly where?: string;
  readonly state: ExplainedState;
  readonly phase?: string;
  readonly sinceMs?: number;
  /** The true cause; undefined: there is none to tell. */
  readonly cause?: Pick<Cause, 'code' | 'kind' | 'text' | 'container' | 'untilMs'>;
  readonly pull?: ExplainedPull;
  readonly restarts: number;
  readonly nextLookMs?: number;
}

export interface ExplainedNode {
  readonly name: string;
  readonly ready: boolean;
  /** Why it is not ready, or what else is wrong with it. The worst first. */
  readonly causes: readonly Cause[];
  /** A line each: "engine: docker, last listed 3 s ago". */
  readonly parts: readonly { readonly part: string; readonly well: boolean; readonly text: string }[];
}
