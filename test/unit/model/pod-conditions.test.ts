import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from '../../../src/model/pod.ts';
import { podReadyCondition } from '../../../src/model/pod-conditions.ts';

const messageFor = (conditionType: string, conditions: readonly PodCondition[] = []): string | undefined =>
  podReadyCondition({ containers: [], readinessGates: [{ conditionType }] }, conditions, [], 'Running').message;

test('a readiness gate is named in quotes, with what cannot be printed escaped as Go does it', () => {
  assert.equal(messageFor('example.com/gate'), 'corresponding condition of pod readiness gate "example.com/gate" does not exist.');
  assert.equal(messageFor('"\u007f\u00ad日'), 'corresponding condition of pod readiness gate "\\"\\x7f\\u00ad日" does not exist.');
  const held: PodCondition = { type: 'a\u0001', status: 'False' };
  assert.equal(messageFor('a\u0001', [held]), 'the status of pod readiness gate "a\\x01" is not "True", but False');
});
