interface Sample {
  /** On the clock's monotonic time. */
  readonly atMs: number;
  readonly usageCoreNanoSeconds: number;
}
interface Known {
  readonly base: Sample;
  readonly nanoCores: number | undefined;
}

/** Closer samples tell noise. */
const MIN_WINDOW_MS = 1_000;
/** For the first rate of what was not asked about before: the asker waits for it. */
export const FIRST_WINDOW_MS = 100;
/** An average over more says nothing about now. */
const MAX_WINDOW_MS = 120_000;
/** What has run no longer than this is known since its start. */
const YOUNG_MS = 60_000;

/** From counters to rates: what is being used now, between the last two samples. */
export class CpuRates {
  readonly #known = new Map<string, Known>();

  /** Nanocores; undefined when it takes another sample, FIRST_WINDOW_MS from now. `ageMs` is how long ago the counter was zero. */
  rate(key: string, sample: Sample, ageMs?: number): number | undefined {
    const known = this.#known.get(key) ?? bornWith(ageMs, sample);
    const elapsedMs = known === undefined ? 0 : sample.atMs - known.base.atMs;
    const restarted = known !== undefined && sample.usageCoreNanoSeconds < known.base.usageCoreNanoSeconds;
    if (known === undefined || elapsedMs > MAX_WINDOW_MS || restarted) {
      this.#known.set(key, { base: sample, nanoCores: undefined });
      return undefined;
    }
    if (elapsedMs < (known.nanoCores === undefined ? FIRST_WINDOW_MS : MIN_WINDOW_MS)) return known.nanoCores;
    // Nanoseconds of processor time a second of time.
    const nanoCores = Math.round((sample.usageCoreNanoSeconds - known.base.usageCoreNanoSeconds) / (elapsedMs / 1000));
    this.#known.set(key, { base: sample, nanoCores });
    return nanoCores;
  }

  /** Forgets all but these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#known.keys()) if (!keys.has(key)) this.#known.delete(key);
  }
}

function bornWith(ageMs: number | undefined, { atMs }: Sample): Known | undefined {
  // By dates, which may be set meanwhile: what seems to begin only later says nothing.
  if (ageMs === undefined || ageMs < 0 || ageMs > YOUNG_MS) return undefined;
  return { base: { atMs: atMs - ageMs, usageCoreNanoSeconds: 0 }, nanoCores: undefined };
}
