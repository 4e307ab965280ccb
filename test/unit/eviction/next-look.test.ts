import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgePressure, noPressure } from '../../../src/eviction/judge-pressure.ts';
import { nextLookMs } from '../../../src/eviction/next-look.ts';
import { observe } from '../../../src/eviction/observe.ts';
import { parseThresholds } from '../../../src/model/eviction/parse-thresholds.ts';
import { GI, type LeftOnNode, nodeUsage, plenty } from '../../builders/node-usage.ts';

function nextMs(left: Partial<LeftOnNode>, hard: Readonly<Record<string, string>>, soft: Readonly<Record<string, string>> = {}): number {
  const { thresholds } = parseThresholds({
    evictionHard: hard,
    evictionSoft: soft,
    evictionSoftGracePeriod: Object.fromEntries(Object.keys(soft).map((signal) => [signal, '4s'])),
    evictionMinimumReclaim: {},
    enforceNodeAllocatable: [],
  });
  const { observations } = observe(nodeUsage({ ...plenty, ...left }, 0), undefined);
  const times = { nowMs: 0, transitionMs: 300_000 };
  return nextLookMs(judgePressure(noPressure, thresholds, observations, times), thresholds, observations, times);
}

for (const [what, left, hard, expected] of [
  ['nothing is watched', {}, {}, 10_000],
  ['the disk is far from full', { nodeFs: 50 * GI }, { 'nodefs.available': '10%' }, 10_000],
  ['4 GiB of memory are left above the threshold', { memory: 5 * GI }, { 'memory.available': '1Gi' }, 4_000],
  ['the threshold is almost met', { memory: GI + 1 }, { 'memory.available': '1Gi' }, 1_000],
  ['exactly as much is left as there must be', { memory: GI }, { 'memory.available': '1Gi' }, 1_000],
  ['the threshold is met, and nothing more can be done at once', { memory: GI - 1 }, { 'memory.available': '1Gi' }, 10_000],
] as const)
  test(`where ${what}, the next look is in ${expected} ms`, () => assert.equal(nextMs(left, hard), expected));

test('a grace period is over on time', () => assert.equal(nextMs({ memory: GI }, {}, { 'memory.available': '2Gi' }), 4_000));
