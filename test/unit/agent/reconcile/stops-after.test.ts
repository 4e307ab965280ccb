import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gracePeriodSeconds } from '../../../../src/agent/reconcile/kill-grace-period.ts';
import { stopsAfter } from '../../../../src/agent/reconcile/stops-after.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';

test('a sidecar waits for the app containers and the next sidecar, as far as they run', () => {
  const always = { restartPolicy: 'Always' };
  const initContainers = [aContainer('first', always), aContainer('plain'), aContainer('second', always)];
  const pod = aPod('p', { containers: [aContainer('app')], initContainers });
  const running = new Set(['first', 'plain', 'second', 'app']);
  assert.deepEqual(stopsAfter(pod, 'first', running), ['app', 'second']);
  assert.deepEqual(stopsAfter(pod, 'second', running), ['app']);
  assert.deepEqual(stopsAfter(pod, 'app', running), []);
  assert.deepEqual(stopsAfter(pod, 'first', new Set(['first', 'plain'])), []);
});

test('a probe brings a grace period of its own, but for a pod that is being deleted or has none', () => {
  assert.equal(gracePeriodSeconds({ terminationGracePeriodSeconds: 30 }, 5), 5);
  assert.equal(gracePeriodSeconds({ terminationGracePeriodSeconds: 30, deletionGracePeriodSeconds: 7 }, 5), 7);
  assert.equal(gracePeriodSeconds({}, 5), 2);
});
