import { isHard, type Signal, type Threshold, thresholdAmount } from '../model/eviction/threshold.ts';
import type { Pressure } from '../model/node-pressure.ts';
import type { Observations } from './observe.ts';
import { starvedResource } from './starved-resource.ts';

/** What is known from the looks before. Times are on the clock's monotonic time. */
export interface PressureMemory {
  /** Since when each threshold is met. */
  readonly metSinceMs: ReadonlyMap<Threshold, number>;
  /** When the node was under each pressure last. */
  readonly lastUnderMs: ReadonlyMap<Pressure, number>;
  /** Met for as long as their grace period, and not resolved since: with their minimum reclaim. */
  readonly unresolved: readonly Threshold[];
  /** The dates of the measurements that were judged last. */
  readonly takenAtMs: ReadonlyMap<Signal, number>;
}

export const noPressure: PressureMemory = { metSinceMs: new Map(), lastUnderMs: new Map(), unresolved: [], takenAtMs: new Map() };

export interface PressureJudgement {
  readonly memory: PressureMemory;
  /** What the node is, or was within the transition period, short of. */
  readonly pressures: ReadonlySet<Pressure>;
  /** What is to be done something about now, the most urgent first. */
  readonly acute: readonly Threshold[];
}

/**
 * What the observations mean after all that was seen before (synchronize in pkg/kubelet/eviction). Each threshold is one object, the same in
 * each call. What was not measured again since the last look is not acted upon a second time.
 */
export function judgePressure(
  before: PressureMemory,
  thresholds: readonly Threshold[],
  observations: Observations,
  { nowMs, transitionMs }: { readonly nowMs: number; readonly transitionMs: number },
): PressureJudgement {
  const met = new Set([
    ...thresholds.filter((threshold) => isMet(threshold, observations, false)),
    ...before.unresolved.filter((threshold) => isMet(threshold, observations, true)),
  ]);
  const metSinceMs = new Map([...met].map((threshold) => [threshold, before.metSinceMs.get(threshold) ?? nowMs]));
  const lastUnderMs = new Map([...before.lastUnderMs, ...[...met].map(({ signal }) => [pressureOf(signal), nowMs] as const)]);
  // What is true now is so even without a transition period.
  const lasts = (atMs: number): boolean => atMs === nowMs || nowMs - atMs < transitionMs;
  const pressures = new Set([...lastUnderMs].flatMap(([pressure, atMs]) => (lasts(atMs) ? [pressure] : [])));
  const unresolved = [...met].filter((threshold) => nowMs - (metSinceMs.get(threshold) ?? nowMs) >= threshold.graceMs);
  const acute = unresolved.filter(({ signal }) => observations.get(signal)?.atMs !== before.takenAtMs.get(signal));
  const takenAtMs = new Map([...observations].map(([signal, { atMs }]) => [signal, atMs]));
  return { memory: { metSinceMs, lastUnderMs, unresolved, takenAtMs }, pressures, acute: acute.toSorted(byUrgency) };
}

/** Whether less is left than the threshold; `resolving`: than the threshold and its minimum reclaim. What is not observed is not met. */
export function isMet({ signal, value, minReclaim }: Threshold, observations: Observations, resolving: boolean): boolean {
  const observed = observations.get(signal);
  if (observed === undefined) return false;
  const amount = thresholdAmount(value, observed.capacity);
  const wanted = resolving && minReclaim ? amount.add(thresholdAmount(minReclaim, observed.capacity)) : amount;
  return wanted.cmp(observed.available) > 0;
}

export function pressureOf(signal: Signal): Pressure {
  const resource = starvedResource(signal);
  switch (resource) {
    case 'memory':
      return 'memory';
    case 'pids':
      return 'pid';
    case 'ephemeral-storage':
    case 'inodes':
      return 'disk';
    default:
      return resource satisfies never;
  }
}

/** Memory goes before all others (byEvictionPriority), and what cannot wait before what could. */
function byUrgency(a: Threshold, b: Threshold): number {
  const isMemory = ({ signal }: Threshold): number => Number(pressureOf(signal) === 'memory');
  return isMemory(b) - isMemory(a) || Number(isHard(b)) - Number(isHard(a));
}
