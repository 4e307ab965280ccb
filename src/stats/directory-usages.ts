import type { Clock } from '../base/clock.ts';
import { type DirectoryUsage, directoryUsage } from './directory-usage.ts';

export interface DirectoryUsagesDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  readonly measure?: typeof directoryUsage;
}

export interface MeasuredDirectory extends DirectoryUsage {
  readonly atMs: number;
}

interface Entry {
  latest: MeasuredDirectory | undefined;
  notBeforeMs: number;
  /** Until it is settled, whatever came of it. */
  measuring: Promise<void> | undefined;
}

const FRESH_MS = 60_000;
/** Counting takes at most a twentieth of the time, however much there is to count. */
const REST_FACTOR = 19;

/** How much lies in directories, counted again when asked for after a while. One at a time: it must not slow anything else. */
export class DirectoryUsages {
  readonly #deps: DirectoryUsagesDeps;
  readonly #entries = new Map<string, Entry>();
  #last: Promise<void> = Promise.resolve();

  constructor(deps: DirectoryUsagesDeps) {
    this.#deps = deps;
  }

  /** What was counted last; undefined while the first count is under way, and for what cannot be read. Begins a count that is due. */
  latest(path: string): MeasuredDirectory | undefined {
    const { clock, signal } = this.#deps;
    const entry = this.#entries.get(path) ?? { latest: undefined, notBeforeMs: Number.NEGATIVE_INFINITY, measuring: undefined };
    this.#entries.set(path, entry);
    if (entry.measuring === undefined && clock.monotonicMs() >= entry.notBeforeMs && !signal.aborted) {
      entry.measuring = this.#last = this.#last.then(() => this.#measure(path, entry));
    }
    return entry.latest;
  }

  /** Whether something that was asked for has not been counted once. */
  get counting(): boolean {
    return [...this.#entries.values()].some(({ latest, measuring }) => latest === undefined && measuring !== undefined);
  }

  /** Resolves when every count that is under way has ended. */
  settled(): Promise<void> {
    return this.#last;
  }

  /** What is asked for from now on is counted again, however fresh its last count is. */
  expire(): void {
    for (const entry of this.#entries.values()) entry.notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  /** Forgets all but these. */
  keep(paths: ReadonlySet<string>): void {
    for (const path of this.#entries.keys()) if (!paths.has(path)) this.#entries.delete(path);
  }

  async #measure(path: string, entry: Entry): Promise<void> {
    const { clock, signal, measure = directoryUsage } = this.#deps;
    const startedAtMs = clock.monotonicMs();
    try {
      // It is not asked for any more.
      if (this.#entries.get(path) !== entry || signal.aborted) return;
      const usage = await measure(path, signal);
      entry.latest = { ...usage, atMs: clock.now() };
    } catch {
      entry.latest = undefined;
    } finally {
      entry.measuring = undefined;
      const nowMs = clock.monotonicMs();
      entry.notBeforeMs = nowMs + Math.max(FRESH_MS, (nowMs - startedAtMs) * REST_FACTOR);
    }
  }
}
