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

test('what the pod as a whole asks for decides alone', () => {
  const guaranteed = { cpu: '1', memory: '1Gi' };
  const containers = [aContainer('c', { resources: { limits: { cpu: '1' } } })];
  assert.equal(podQosClass(aPod('p', { containers, resources: { requests: guaranteed, limits: guaranteed } })), 'Guaranteed');
  assert.equal(podQosClass(aPod('p', { containers, resources: {} })), 'BestEffort');
});
