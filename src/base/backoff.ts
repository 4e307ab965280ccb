import type { Clock } from './clock.ts';

export interface BackoffOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The first delay. */
  readonly baseMs: number;
  /** The longest delay. */
  readonly maxMs: number;
  /** What has been quiet for longer starts over; twice the longest delay unless said otherwise. */
  readonly expiryMs?: number | undefined;
}

interface Entry {
  readonly delayMs: number;
  readonly updatedAtMs: number;
}

/**
 * A doubling delay per id: what client-go's flowcontrol.Backoff decides (k8s.io/client-go/util/flowcontrol/backoff.go). Event times are
 * when the thing happened that may be tried again, on the clock's monotonic time; reading them never changes a delay.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** The delay after the last `next`; 0 when none is known. */
  get(id: string): number {
    return this.#entries.get(id)?.delayMs ?? 0;
  }

  /** One more failure: doubles the delay, or starts with the first. */
  next(id: string, eventMs: number): void {
    const { clock, baseMs, maxMs } = this.#options;
    const entry = this.#entries.get(id);
    const delayMs = entry === undefined || this.#expired(entry, eventMs) ? baseMs : Math.min(entry.delayMs * 2, maxMs);
    this.#entries.set(id, { delayMs, updatedAtMs: clock.monotonicMs() });
  }

  /** Whether less than the delay has passed since the event. */
  isInBackOffSince(id: string, eventMs: number): boolean {
    const entry = this.#live(id, eventMs);
    return entry !== undefined && this.#options.clock.monotonicMs() - eventMs < entry.delayMs;
  }

  /** Whether the event came less than the delay after the last `next`. */
  isInBackOffSinceUpdate(id: string, eventMs: number): boolean {
    const entry = this.#live(id, eventMs);
    return entry !== undefined && eventMs - entry.updatedAtMs < entry.delayMs;
  }

  /** Forgets the id: its next failure is its first. */
  reset(id: string): void {
    this.#entries.delete(id);
  }

  /** Forgets what has been quiet for too long to count, of these ids or of all. Call it now and then. */
  gc(ids: Iterable<string> = this.#entries.keys()): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const id of ids) {
      const entry = this.#entries.get(id);
      if (entry !== undefined && this.#expired(entry, nowMs)) this.#entries.delete(id);
    }
  }

  #expired(entry: Entry, atMs: number): boolean {
    const { maxMs, expiryMs = maxMs * 2 } = this.#options;
    return atMs - entry.updatedAtMs > expiryMs;
  }

  #live(id: string, eventMs: number): Entry | undefined {
    const entry = this.#entries.get(id);
    return entry === undefined || this.#expired(entry, eventMs) ? undefined : entry;
  }
}
