import assert from 'node:assert/strict';

/** Sizes and times at which growth is judged. */
export interface GrowthBounds {
  /** Input sizes, in bytes or whatever `make` counts: doubled from the first on until the last, or until one run takes `enoughMs`. */
  readonly from: number;
  readonly to: number;
  readonly enoughMs: number;
}

const KIB = 1024;
/** Ten times the size at which a repeated key was first seen to stop the agent. */
export const ATTACK_BYTES = 1800 * KIB;
/** RXLET_TEST_GROWTH_MS=1500 takes half an hour and goes on to the full size with slow parsers, too. */
const ENOUGH_MS = Number(process.env['RXLET_TEST_GROWTH_MS'] ?? 180);
const usualBounds: GrowthBounds = { from: 4 * KIB, to: ATTACK_BYTES, enoughMs: ENOUGH_MS };

/** Below this a measurement is noise. */
const FLOOR_MS = 8;
/** Four times the input may take up to this many times as long: 4 is linear, 16 quadratic; garbage of the larger one alone makes it up to 10. */
const ALLOWED = 12;
/** From this on a single run is looked at more closely. */
const SUSPECT = 6;
/** How often both sizes are run before their growth is judged. */
const RUNS = 9;
const SLOWEST = 3;

/**
 * Fails when four times the input takes more than twelve times as long, at any size that takes long enough to be measured. Counts this
 * thread's CPU time, which some kernels count in steps of several milliseconds, and to which other processes and the garbage collector add:
 * before it complains, both sizes are run in turns. What is compared is the least of the larger one, which nothing else can have made
 * smaller, and the mean of the smaller one but for its slowest runs, since single runs of it may be less than such a step.
 */
export async function assertGrowsLinearly(make: (size: number) => () => unknown, bounds: Partial<GrowthBounds> = {}): Promise<void> {
  const { from, to, enoughMs } = { ...usualBounds, ...bounds };
  const times = new Map<number, number>();
  for (let size = from; size <= to; size *= 2) {
    let took = await cpuMs(make(size));
    if (isMore(SUSPECT, times.get(size / 4), took)) {
      const [before, now] = await closely(make(size / 4), make(size));
      assert(
        !isMore(ALLOWED, before, now),
        `${size} take ${now.toFixed()} ms of CPU, ${size / 4} take ${before.toFixed()}: more than linear`,
      );
      took = now;
    }
    times.set(size, took);
    if (took > enoughMs) return;
  }
}

async function closely(smaller: () => unknown, larger: () => unknown): Promise<readonly [number, number]> {
  const before: number[] = [];
  const now: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    before.push(await cpuMs(smaller));
    now.push(await cpuMs(larger));
  }
  return [usual(before), Math.min(...now)];
}

function usual(values: readonly number[]): number {
  const kept = values.toSorted((a, b) => a - b).slice(0, -SLOWEST);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}
const isMore = (factor: number, before: number | undefined, now: number): boolean =>
  before !== undefined && now > factor * Math.max(before, FLOOR_MS);

/** What a run costs, whether or not it refuses its input. */
async function cpuMs(run: () => unknown): Promise<number> {
  const start = process.threadCpuUsage();
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/** `unit` as often as it fits into so many characters; a function gets its number. */
export function repeated(size: number, unit: string | ((i: number) => string)): string {
  if (typeof unit === 'string') return unit.repeat(Math.ceil(size / unit.length));
  const parts: string[] = [];
  for (let length = 0, i = 0; length < size; i++) {
    const part = unit(i);
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
}
