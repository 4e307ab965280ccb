import type { PodSummary } from './container-runtime.ts';

/** An engine call has ended. */
export interface EngineCallResult {
  /** "POST /containers/ID/start" */
  readonly what: string;
  readonly tookMs: number;
  /** Undefined when it worked, or was no longer wanted. */
  readonly failed?: 'error' | 'timeout';
}
export type OnEngineCall = (result: EngineCallResult) => void;

/** A relist has worked. */
export interface RelistResult {
  /** A date. */
  readonly atMs: number;
  readonly tookMs: number;
  /** Between the beginnings of this relist and the one before; undefined for the first. */
  readonly intervalMs?: number;
  readonly pods: readonly PodSummary[];
}
export type OnRelist = (result: RelistResult) => void;

/** What becomes of the keys of a work queue. */
export interface WorkQueueObserver<K> {
  /** The key wants a run, and did not before. */
  ready(key: K): void;
  started(key: K): void;
  ended(key: K): void;
  /** The run failed, and the key waits for the next. */
  retried(key: K): void;
}

/** A request to the API server has its answer's head, or will never have one. Watches count, too. */
export interface ApiRequestResult {
  readonly method: string;
  /** "https://10.0.0.1:6443" */
  readonly server: string;
  /** Undefined: no answer. */
  readonly status: number | undefined;
  readonly tookMs: number;
}
export interface ApiObserver {
  requested(result: ApiRequestResult): void;
  /** How long a request has waited for the client's own rate limit. */
  waited(method: string, server: string, waitedMs: number): void;
}
