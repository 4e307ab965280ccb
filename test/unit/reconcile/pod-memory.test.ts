import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodMemory } from '../../../src/reconcile/pod-memory.ts';
import { aPod } from '../../builders/a-pod.ts';
import { anObservedPod, aSandbox } from '../../builders/an-observed-pod.ts';

const pod = aPod('web');
const { uid } = pod.metadata;
test('a pod began at the earliest moment that anyone told', () => {
  const memory = new PodMemory();
  const seen = (...createdAtMs: readonly number[]) =>
    anObservedPod(pod, { sandboxes: createdAtMs.map((at) => aSandbox({ createdAtMs: at })) });
  assert.equal(memory.beganAtMs(seen(), 20), 20);
  assert.equal(memory.beganAtMs(seen(15, 10), 30), 10);
  assert.equal(memory.beganAtMs(seen(), 40), 10);
});

test('a container is held anew once for each end of its back-off', () => {
  const memory = new PodMemory();
  const told = [10, 10, 20, 20].map((notBeforeMs) => memory.isHeldAnew(uid, 'app', notBeforeMs));
  assert.deepEqual(told, [true, false, true, false]);
  assert.equal(memory.isHeldAnew(uid, 'log', 20), true);
  memory.forget(uid);
  assert.equal(memory.isHeldAnew(uid, 'app', 20), true);
});
