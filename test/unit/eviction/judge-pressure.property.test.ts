import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgePressure, noPressure, type PressureMemory } from '../../../src/eviction/judge-pressure.ts';
import { LONGEST_MS, nextLookMs, SHORTEST_MS } from '../../../src/eviction/next-look.ts';
import { observe } from '../../../src/eviction/observe.ts';
import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import { GI, nodeUsage, plenty } from '../../builders/node-usage.ts';

const { thresholds } = parseThresholds({
  evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '10%', 'pid.available': '100' },
  evictionSoft: { 'memory.available': '2Gi', 'nodefs.available': '20%' },
  evictionSoftGracePeriod: { 'memory.available': '30s', 'nodefs.available': '0s' },
  evictionMinimumReclaim: { 'memory.available': '500Mi', 'nodefs.available': '5%' },
  enforceNodeAllocatable: [],
});
const graceMs = 30_000;
const transitionMs = 40_000;

const look = fc.record({
  afterMs: fc.integer({ min: SHORTEST_MS, max: LONGEST_MS }),
  memory: fc.integer({ min: 0, max: 8 }).map((half) => half * 0.5 * GI),
  nodeFs: fc.integer({ min: 0, max: 40 }).map((gi) => gi * GI),
  pids: fc.integer({ min: 50, max: 150 }),
  /** The numbers are those of the look before. */
  isStale: fc.boolean(),
});

test('whatever a node goes through: no pressure ends within its transition period, none is acted upon too early, nor twice by one measurement', () => {
  fc.assert(
    fc.property(fc.array(look, { maxLength: 40 }), (looks) => {
      let memory: PressureMemory = noPressure;
      let nowMs = 0;
      let takenAtMs = 0;
      let left = plenty;
      let softSinceMs: number | undefined;
      let hasLasted = false;
      const lastUnderMs = new Map<string, number>();
      for (const { afterMs, isStale, ...numbers } of looks) {
        nowMs += afterMs;
        if (!isStale || takenAtMs === 0) [left, takenAtMs] = [{ ...plenty, ...numbers }, nowMs];
        const { observations } = observe(nodeUsage(left, takenAtMs), undefined);
        const times = { nowMs, transitionMs };
        const judgement = judgePressure(memory, thresholds, observations, times);
        memory = judgement.memory;

        const under = { memory: left.memory < 2 * GI, disk: left.nodeFs < 20 * GI, pid: left.pids < 100 };
        for (const [pressure, is] of Object.entries(under)) if (is) lastUnderMs.set(pressure, nowMs);
        for (const pressure of ['memory', 'disk', 'pid'] as const) {
          const sinceMs = nowMs - (lastUnderMs.get(pressure) ?? -Infinity);
          if (sinceMs < transitionMs) assert.ok(judgement.pressures.has(pressure), `${pressure} ${sinceMs} ms ago`);
          // Until the minimum reclaim is reached as well, it goes on.
          else if (pressure === 'pid') assert.ok(!judgement.pressures.has(pressure));
        }

        // What was met for its grace period is so until the minimum reclaim is reached as well.
        const isUnresolved: boolean = hasLasted && left.memory < 2 * GI + 500 * 2 ** 20;
        softSinceMs = left.memory < 2 * GI || isUnresolved ? (softSinceMs ?? nowMs) : undefined;
        hasLasted = softSinceMs !== undefined && nowMs - softSinceMs >= graceMs;
        const acute = judgement.acute.map(({ signal, graceMs: grace }) => `${signal} ${grace}`);
        if (acute.includes(`memory.available ${graceMs}`) && left.memory < 2 * GI) assert.ok(nowMs - (softSinceMs ?? nowMs) >= graceMs);
        if (isStale && takenAtMs !== nowMs) assert.deepEqual(acute, []);
        else if (left.memory < GI) assert.equal(acute[0], 'memory.available 0');
        const firstOther = acute.findIndex((each) => !each.startsWith('memory'));
        if (firstOther >= 0) assert.ok(acute.slice(firstOther).every((each) => !each.startsWith('memory')));

        const nextMs = nextLookMs(judgement, thresholds, observations, times);
        assert.ok(nextMs >= SHORTEST_MS && nextMs <= LONGEST_MS);
      }
    }),
    { numRuns: 1000 },
  );
});
