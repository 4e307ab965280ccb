import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodMemory } from '../../../src/reconcile/pod-memory.ts';
import { aPod } from '../../builders/a-pod.ts';
import { anInstance, anObservedPod, exited } from '../../builders/an-observed-pod.ts';

const pod = aPod('web');
const { uid } = pod.metadata;
const first = anInstance(pod, 'app', { attempt: 0, state: exited(0) });
const second = anInstance(pod, 'app', { attempt: 1, state: exited(0) });
const phases = (memory: PodMemory, ...containers: readonly (typeof first)[]): readonly string[] =>
  memory.withRestarts(anObservedPod(pod, { containers })).containers.map(({ state }) => state.phase);

test('a container that was stopped to be started again counts as not ended, until it is started or its pod forgotten', () => {
  const memory = new PodMemory();
  assert.deepEqual(phases(memory, second, first), ['exited', 'exited']);
  memory.containerRestarts(uid, 'app', second.id);
  assert.deepEqual(phases(memory, second, first), ['created', 'created']);
  memory.containerStarted(uid, 'app');
  assert.deepEqual(phases(memory, second, first), ['exited', 'exited']);
  memory.containerRestarts(uid, 'app', second.id);
  memory.forget(uid);
  assert.deepEqual(phases(memory, second, first), ['exited', 'exited']);
});

test('an instance that is newer than the one stopped ended by itself', () => {
  const memory = new PodMemory();
  memory.containerRestarts(uid, 'app', first.id);
  assert.deepEqual(phases(memory, second, first), ['exited', 'exited']);
});

test('a pod began at the earliest moment that anyone told', () => {
  const memory = new PodMemory();
  assert.equal(memory.startedAtMs(uid, 20), 20);
  assert.equal(memory.startedAtMs(uid, 10), 10);
  assert.equal(memory.startedAtMs(uid, 30), 10);
});

test('a container is held anew once for each end of its back-off', () => {
  const memory = new PodMemory();
  const told = [10, 10, 20, 20].map((notBeforeMs) => memory.isHeldAnew(uid, 'app', notBeforeMs));
  assert.deepEqual(told, [true, false, true, false]);
  assert.equal(memory.isHeldAnew(uid, 'log', 20), true);
  memory.forget(uid);
  assert.equal(memory.isHeldAnew(uid, 'app', 20), true);
});
