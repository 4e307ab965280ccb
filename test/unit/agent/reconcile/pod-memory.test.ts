import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodMemory } from '../../../../src/agent/reconcile/pod-memory.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import type { ObservedPod } from '../../../../src/ports/container-runtime.ts';
import { aPod } from '../../../builders/a-pod.ts';
import { anObservedPod, aSandbox } from '../../../builders/an-observed-pod.ts';

const pod = aPod('web');
const { uid } = pod.metadata;
const withSandboxesOf = (...createdAtMs: readonly number[]) =>
  anObservedPod(pod, { sandboxes: createdAtMs.map((at) => aSandbox({ createdAtMs: at })) });
const at = (dateMs: number, monotonicMs: number) => ({ now: () => dateMs, monotonicMs: () => monotonicMs });

const beganAt = (memory: PodMemory, one: Pod, observed: ObservedPod, clock: ReturnType<typeof at>) => {
  memory.noteLook(one, observed, clock);
  return memory.began(uid, clock);
};

test('a pod began at the earliest date that was known when it was first looked at', () => {
  assert.deepEqual(beganAt(new PodMemory(), pod, withSandboxesOf(), at(20_000, 5)), { dateMs: 20_000, monotonicMs: 5 });
  assert.deepEqual(beganAt(new PodMemory(), pod, withSandboxesOf(15_000, 10_000), at(30_000, 7)), {
    dateMs: 10_000,
    monotonicMs: 7 - 20_000,
  });
  const told = { ...pod, status: { startTime: '1970-01-01T00:00:05Z' } };
  assert.deepEqual(beganAt(new PodMemory(), told, withSandboxesOf(15_000), at(30_000, 7)), { dateMs: 5_000, monotonicMs: 7 - 25_000 });
});

test('when a pod began does not move with the date, and is never still to come', () => {
  const memory = new PodMemory();
  const began = beganAt(memory, pod, withSandboxesOf(10_000), at(30_000, 100));
  for (const jumpMs of [-3_600_000, 3_600_000, 365 * 86_400_000])
    assert.deepEqual(beganAt(memory, pod, withSandboxesOf(30_000 + jumpMs, 10_000), at(30_000 + jumpMs, 200)), began);
  assert.deepEqual(beganAt(new PodMemory(), pod, withSandboxesOf(99_000), at(30_000, 100)), { dateMs: 30_000, monotonicMs: 100 });
});

test('that a container is held back is news once for each end of its back-off', () => {
  const memory = new PodMemory();
  const told = [10, 10, 20, 20].map((notBeforeMs) => memory.noteHeld(uid, 'app', notBeforeMs));
  assert.deepEqual(told, [true, false, true, false]);
  assert.equal(memory.noteHeld(uid, 'log', 20), true);
  memory.forget(uid);
  assert.equal(memory.noteHeld(uid, 'app', 20), true);
});

test('the declaration before the last look is remembered, also after the pod is declared no more', () => {
  const memory = new PodMemory();
  const clock = at(0, 0);
  const edited = { ...pod, spec: { ...pod.spec, nodeName: 'n2' } };
  const seen = [pod, edited, undefined, undefined].map((declared) => {
    memory.noteLook(declared, withSandboxesOf(), clock);
    return [memory.previous(uid), memory.declared(uid)];
  });
  assert.deepEqual(seen, [
    [undefined, pod],
    [pod, edited],
    [edited, edited],
    [edited, edited],
  ]);
  memory.forget(uid);
  assert.equal(memory.declared(uid), undefined);
});

test('what is found again is what was found before, until it is another', () => {
  const memory = new PodMemory();
  const first = withSandboxesOf(10);
  assert.equal(memory.asSeen(first), first, 'a pod that was not looked at');
  assert.notEqual(memory.asSeen(withSandboxesOf(10)), first);
  memory.noteLook(pod, first, at(0, 0));
  assert.equal(memory.asSeen(first), first);
  assert.equal(memory.asSeen(withSandboxesOf(10)), first);
  const other = withSandboxesOf(20);
  assert.equal(memory.asSeen(other), other);
  assert.equal(memory.asSeen(withSandboxesOf(20)), other);
  memory.forget(uid);
  assert.notEqual(memory.asSeen(withSandboxesOf(20)), other);
});

test('a status is shown already if it was made of the same values and nothing was done to the pod since', () => {
  const memory = new PodMemory();
  assert.equal(memory.isShownFrom(uid, [pod, 1]), false);
  memory.noteShown(uid, [pod, 1]);
  assert.equal(memory.isShownFrom(uid, [pod, 1]), true);
  assert.equal(memory.isShownFrom(uid, [pod, 2]), false);
  assert.equal(memory.isShownFrom(uid, [structuredClone(pod), 1]), false);
  assert.equal(memory.isShownFrom(uid, [pod]), false);
  memory.noteActed(uid);
  assert.equal(memory.isShownFrom(uid, [pod, 1]), false);
  assert.equal(memory.isShownFrom(uid, []), false);
});
