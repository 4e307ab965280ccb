import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podQosClass } from '../../../src/model/qos.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('an amount is read as Kubernetes reads it from JSON: null is none, spaces do not count', () => {
  const table = [
    ['{"requests":{"cpu":null}}', 'BestEffort'],
    ['{"requests":{"memory":"64Mi "}}', 'Burstable'],
    ['{"requests":{"cpu":1,"memory":" 1Gi"},"limits":{"cpu":"1000m","memory":"1Gi"}}', 'Guaranteed'],
    ['{"limits":{"cpu":"1","memory":null}}', 'Burstable'],
  ] as const;
  for (const [resources, expected] of table) {
    const pod = aPod('p', { containers: [aContainer('c', { resources: JSON.parse(resources) })] });
    assert.equal(podQosClass(pod), expected, resources);
  }
});
