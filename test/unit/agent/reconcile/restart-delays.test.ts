import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartDelays } from '../../../../src/agent/reconcile/restart-delays.ts';
import { someOptions } from '../../../builders/some-options.ts';

for (const [name, options, delays] of [
  ['10 s to 5 minutes by default', {}, { firstMs: 10_000, maxMs: 300_000 }],
  ['up to what the option says', { maxContainerRestartPeriodMs: 2_000 }, { firstMs: 10_000, maxMs: 2_000 }],
  [
    'from 1 s on with ReduceDefaultCrashLoopBackOffDecay',
    { featureGates: { ReduceDefaultCrashLoopBackOffDecay: true } },
    { firstMs: 1_000, maxMs: 300_000 },
  ],
  [
    'up to a minute with that, where no option can say more',
    { featureGates: { ReduceDefaultCrashLoopBackOffDecay: true, KubeletCrashLoopBackOffMax: false } },
    { firstMs: 1_000, maxMs: 60_000 },
  ],
  ['up to 5 minutes where no option can say', { featureGates: { KubeletCrashLoopBackOffMax: false } }, { firstMs: 10_000, maxMs: 300_000 }],
] as const) {
  test(`crash loops wait ${name}`, () => assert.deepEqual(restartDelays(someOptions(options)), delays));
}
