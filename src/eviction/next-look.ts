import { type Threshold, thresholdAmount } from '../model/eviction/threshold.ts';
import type { PressureJudgement } from './judge-pressure.ts';
import type { Observations } from './observe.ts';
import { starvedResource, type StarvedResource } from './starved-resource.ts';

/** As often as the kubelet looks (evictionMonitoringPeriod). */
export const LONGEST_MS = 10_000;
/** Measurements are fresh for as long. */
export const SHORTEST_MS = 1_000;

const GIB = 2 ** 30;
/** How much can be taken within a second by what goes on in a node; more would be news within a look or two. */
const fastest: Readonly<Record<StarvedResource, number>> = { memory: GIB, 'ephemeral-storage': GIB, inodes: 100_000, pids: 10_000 };

/**
 * How long nothing can change what was decided: until the first threshold could be met, a grace period is over, or a pressure has lasted for
 * its transition period. Between 1 s and 10 s.
 */
export function nextLookMs(
  { memory: { metSinceMs, lastUnderMs }, pressures }: PressureJudgement,
  thresholds: readonly Threshold[],
  observations: Observations,
  { nowMs, transitionMs }: { readonly nowMs: number; readonly transitionMs: number },
): number {
  const waits = [LONGEST_MS];
  for (const threshold of thresholds) {
    const sinceMs = metSinceMs.get(threshold);
    const observed = observations.get(threshold.signal);
    if (sinceMs !== undefined) {
      const leftMs = sinceMs + threshold.graceMs - nowMs;
      if (leftMs > 0) waits.push(leftMs);
    } else if (observed) {
      const left = Number(observed.available.sub(thresholdAmount(threshold.value, observed.capacity)).value());
      waits.push((left / fastest[starvedResource(threshold.signal)]) * 1000);
    }
  }
  for (const pressure of pressures) {
    const leftMs = (lastUnderMs.get(pressure) ?? nowMs) + transitionMs - nowMs;
    if (leftMs > 0) waits.push(leftMs);
  }
  return Math.max(SHORTEST_MS, Math.min(...waits));
}
