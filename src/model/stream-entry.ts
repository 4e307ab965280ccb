import type { PodUid } from './pod.ts';

/**
 * A part of the agent under whose name things are reported: each capability's own (sources, images, node, probes, volumes, server, …), and
 * agent, cluster, engine, mux, queue, reconcile, pleg, status, events and lease.
 */
export type StreamName = string;

/** One thing that happened: the same in the log, the ring, the terminal and the page. Plain JSON; its texts are as hostile as what they are about. */
export interface StreamEntry {
  /** Grows by one with each entry. */
  readonly seq: number;
  /** A date. */
  readonly atMs: number;
  readonly stream: StreamName;
  /** A number: from that `--v` on it is in the log, too. */
  readonly level: 'error' | 'warning' | 'info' | number;
  /** A constant phrase. */
  readonly message: string;
  /** "namespace/name" */
  readonly pod?: string;
  readonly uid?: PodUid;
  /** Without secrets. Of `reconciled`: a ReconciledFields. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The fields of the entry that each look at a pod makes: message `reconciled`, stream `reconcile`, level 4. */
export interface ReconciledFields {
  /** What woke it. */
  readonly woken: readonly string[];
  readonly life: string;
  /** The status's phase after it; absent: the pod is gone. */
  readonly phase?: string;
  readonly because: readonly string[];
  readonly actions: readonly ReconciledAction[];
  /** Containers that wait for the end of their back-off: a date. */
  readonly held?: readonly { readonly name: string; readonly untilMs: number }[];
  /** An error's words, or "interrupted". */
  readonly failed?: string;
  readonly observeMs: number;
  readonly totalMs: number;
  readonly next: 'on-change' | 'back-off' | { readonly afterMs: number };
}

/** What the planner asked for ("startContainer", of which container, why), and what came of it. */
export interface ReconciledAction {
  readonly do: string;
  readonly name?: string;
  readonly attempt?: number;
  readonly id?: string;
  readonly why?: string;
  readonly tookMs: number;
  readonly note?: string;
  /** Absent: it worked. */
  readonly error?: string;
}
