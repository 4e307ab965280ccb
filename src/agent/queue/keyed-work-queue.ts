import type { Subscription } from 'rxjs';
import { aborted } from '../../base/aborted.ts';
import type { Clock } from '../../base/clock.ts';
import type { Happenings, QueueKey } from '../../ports/happenings.ts';
import type { Handler, WakeReason, WorkQueue } from '../../ports/work-queue.ts';

export interface KeyedWorkQueueDeps<K> {
  /** As happenings name it. */
  readonly name: string;
  readonly tell: Pick<Happenings, 'keyReady' | 'keyStarted' | 'keyEnded' | 'keyRetried'>;
  readonly clock: Clock;
  /** Delay before the retry after the n-th failure in a row, n from 1. */
  readonly backoffMs: (failures: number) => number;
  readonly onError: (key: K, error: unknown, retryInMs: number) => void;
}

interface Waiting {
  readonly dueAtMs: number;
  readonly reason: WakeReason;
  readonly timer: Subscription;
}

/**
 * Keys that want a run, each at most once, whatever asked for it.
 *
 * INVARIANTS
 * - A key is in at most one of #ready, #again and #waiting; #waiting holds one timer a key, the earliest that was asked for.
 * - A key in #running is never started again before its run has settled; what asks meanwhile waits in #again. So all of #ready may start,
 *   and finding the next one walks nothing.
 * - Whenever a run may start, #pump has been called: there is no loop that looks.
 */
export class KeyedWorkQueue<K extends string> implements WorkQueue<K> {
  readonly #deps: KeyedWorkQueueDeps<K>;
  readonly #ready = new Map<K, Set<WakeReason>>();
  readonly #again = new Map<K, Set<WakeReason>>();
  readonly #waiting = new Map<K, Waiting>();
  readonly #running = new Map<K, { readonly abort: AbortController; readonly settled: Promise<void> }>();
  readonly #failures = new Map<K, number>();
  #worker: { readonly handle: Handler<K>; readonly concurrency: number } | undefined;

  constructor(deps: KeyedWorkQueueDeps<K>) {
    this.#deps = deps;
  }

  add(key: K, reason: WakeReason, delayMs = 0): void {
    if (delayMs <= 0) this.#makeReady(key, reason);
    else if (!this.#ready.has(key) && !this.#again.has(key)) this.#wait(key, reason, this.#deps.clock.monotonicMs() + delayMs);
  }

  interrupt(key: K, reason: WakeReason): void {
    // Taken first: where nothing runs, the asking starts a run, and that one must go on.
    const underWay = this.#running.get(key);
    this.add(key, reason);
    underWay?.abort.abort(new Error(`interrupted: ${reason}`));
  }

  /** Keys that wait, are ready or run: what a leak would show in. */
  get size(): number {
    return new Set([...this.#ready.keys(), ...this.#waiting.keys(), ...this.#running.keys()]).size;
  }

  async run(handle: Handler<K>, { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal }): Promise<void> {
    if (this.#worker) throw new Error('the queue is being run already');
    this.#worker = { handle, concurrency };
    this.#pump();
    await aborted(signal);
    this.#worker = undefined;
    for (const { timer } of this.#waiting.values()) timer.unsubscribe();
    this.#waiting.clear();
    const running = [...this.#running.values()];
    for (const { abort } of running) abort.abort(signal.reason);
    await Promise.all(running.map(({ settled }) => settled));
  }

  #named(key: K): QueueKey {
    return { queue: this.#deps.name, key };
  }

  #makeReady(key: K, reason: WakeReason): void {
    this.#waiting.get(key)?.timer.unsubscribe();
    this.#waiting.delete(key);
    const queued = this.#running.has(key) ? this.#again : this.#ready;
    const reasons = queued.get(key);
    if (reasons) reasons.add(reason);
    else {
      queued.set(key, new Set([reason]));
      this.#deps.tell.keyReady(this.#named(key));
    }
    this.#pump();
  }

  #wait(key: K, reason: WakeReason, dueAtMs: number): void {
    const waiting = this.#waiting.get(key);
    if (waiting && waiting.dueAtMs <= dueAtMs) return;
    waiting?.timer.unsubscribe();
    const timer = this.#deps.clock.schedule(() => this.#makeReady(key, reason), dueAtMs - this.#deps.clock.monotonicMs());
    this.#waiting.set(key, { dueAtMs, reason, timer });
  }

  #pump(): void {
    const worker = this.#worker;
    if (!worker) return;
    for (const [key, reasons] of this.#ready) {
      if (this.#running.size >= worker.concurrency) return;
      this.#ready.delete(key);
      const abort = new AbortController();
      this.#running.set(key, { abort, settled: this.#runOne(key, worker.handle, abort.signal, [...reasons]) });
    }
  }

  async #runOne(key: K, handle: Handler<K>, signal: AbortSignal, wakes: readonly WakeReason[]): Promise<void> {
    // Starts after #running knows the key, also where the handler throws at once.
    await Promise.resolve();
    this.#deps.tell.keyStarted(this.#named(key));
    let again: { readonly reason: WakeReason; readonly delayMs: number } | undefined;
    try {
      const next = await handle(key, signal, wakes);
      this.#failures.delete(key);
      if (next !== 'on-change') again = { reason: 'due', delayMs: next.afterMs };
    } catch (error) {
      if (!signal.aborted) {
        const failures = (this.#failures.get(key) ?? 0) + 1;
        this.#failures.set(key, failures);
        again = { reason: 'retry', delayMs: this.#deps.backoffMs(failures) };
        this.#deps.onError(key, error, again.delayMs);
        this.#deps.tell.keyRetried({ ...this.#named(key), inMs: again.delayMs });
      }
    }
    this.#running.delete(key);
    const reasons = this.#again.get(key);
    if (reasons && this.#again.delete(key)) this.#ready.set(key, reasons);
    this.#deps.tell.keyEnded(this.#named(key));
    if (again && this.#worker) this.add(key, again.reason, again.delayMs);
    this.#pump();
  }
}
