import type { PodUid } from '../model/pod.ts';

/** Why a key was woken. For people and traces only: what to do is decided by looking. */
export type WakeReason =
  | 'pod added'
  | 'pod updated'
  | 'pod deleted'
  | 'pod removed'
  | 'pod ends'
  | 'pod status differs'
  | 'engine event'
  | 'relist'
  | 'orphan'
  | 'pod ended'
  | 'status changed'
  | 'API object changed'
  | 'object changed'
  | 'node changed'
  | 'probe result'
  | 'network changed'
  | 'name free'
  | 'resources freed'
  | 'resources changed'
  | 'static pod added'
  | 'due'
  | 'retry'
  | 'asked mid-run';

export interface PodWake {
  readonly uid: PodUid;
  readonly reason: WakeReason;
}

/** When to run the same key again if nothing asks for it sooner. */
export type Next = 'on-change' | { readonly afterMs: number };

/** `wakes` are the distinct reasons that were merged into this run, oldest first. */
export type Handler<K> = (key: K, signal: AbortSignal, wakes: readonly WakeReason[]) => Promise<Next>;

export interface WorkQueue<K> {
  /** Asks for a run of `key` within `delayMs`. Repeats merge, the earliest wins; asking during a run earns one more run. */
  add(key: K, reason: WakeReason, delayMs?: number): void;
  /** As `add`, and aborts the key's run if one is under way. */
  interrupt(key: K, reason: WakeReason): void;
  /** One run per key at a time; a rejection backs off that key alone. Resolves, drained, after abort. */
  run(handle: Handler<K>, options: { readonly concurrency: number; readonly signal: AbortSignal }): Promise<void>;
}
