import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exclusiveCpusAreUnlimited } from '../../../src/options/exclusive-cpus.ts';

test('containers with CPUs of their own run without a quota, unless the gate says otherwise', () => {
  const off = { DisableCPUQuotaWithExclusiveCPUs: false };
  assert.equal(exclusiveCpusAreUnlimited({ cpuManagerPolicy: 'static', featureGates: {} }), true);
  assert.equal(exclusiveCpusAreUnlimited({ cpuManagerPolicy: 'static', featureGates: off }), false);
  assert.equal(exclusiveCpusAreUnlimited({ cpuManagerPolicy: 'none', featureGates: {} }), false);
});
