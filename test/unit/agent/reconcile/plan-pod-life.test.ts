import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planPodLife } from '../../../../src/agent/reconcile/plan-pod-life.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import type { ObservedPod } from '../../../../src/ports/container-runtime.ts';
import type { PlanFacts } from '../../../../src/ports/pod-plan.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, exited } from '../../../builders/an-observed-pod.ts';

const pod = aPod('web', { containers: [aContainer('app')] });
const nothing = anObservedPod(pod, {});
const running = anObservedPod(pod, {
  sandboxes: [aSandbox()],
  containers: [anInstance(pod, 'app', { state: { phase: 'running', startedAtMs: 0 } })],
});
const ended = anObservedPod(pod, { sandboxes: [aSandbox({ ready: false })], containers: [anInstance(pod, 'app', { state: exited(0) })] });

const facts: PlanFacts = {
  nowMs: 0,
  life: 'syncing',
  restartHold: () => undefined,
  liveness: () => undefined,
  startup: () => undefined,
};
const did = (observed: ObservedPod, over: Partial<PlanFacts> = {}, desired: Pod | undefined = pod): readonly string[] =>
  planPodLife(desired && { pod: desired, source: 'file' }, observed, { ...facts, ...over }).actions.map((action) => action.do);

test('a pod that is new is admitted, and nothing else is done before that', () => {
  assert.deepEqual(did(nothing, { isToBeAdmitted: true }), ['admit']);
  assert.deepEqual(did(nothing, { isToBeAdmitted: true, life: 'waiting' }), ['admit']);
});

test('a pod is prepared before its sandbox, before a container alone, and while it runs as declared', () => {
  assert.deepEqual(did(nothing), ['prepare', 'runSandbox', 'startContainer']);
  const waits = anObservedPod(pod, { sandboxes: [aSandbox()] });
  assert.deepEqual(did(waits), ['prepare', 'startContainer']);
  assert.deepEqual(did(running), ['prepare']);
});

test('a pod at rest is not prepared where it is known that this would find nothing to do; one that starts something is', () => {
  assert.deepEqual(did(running, { isPrepared: true }), []);
  assert.deepEqual(did(nothing, { isPrepared: true }), ['prepare', 'runSandbox', 'startContainer']);
  const plan = planPodLife({ pod, source: 'file' }, running, { ...facts, isPrepared: true });
  assert.deepEqual(plan.because, ['pod is as declared']);
});

test('a pod is prepared before its containers get other resources, so that its cgroup has room for them, and once more after that', () => {
  const limits = { cpu: '2', memory: '64Mi' };
  const resized = aPod('web', { containers: [aContainer('app', { resources: { limits, requests: limits } })] });
  const before = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } };
  const actuated = { container: () => before, pod: undefined };
  const plan = planPodLife({ pod: resized, source: 'file' }, running, { ...facts, actuated });
  assert.deepEqual([plan.actions.map((action) => action.do), plan.next], [['prepare', 'updateContainer'], { afterMs: 0 }]);
});

test('a pod is not prepared while another has its name, while its start is held back, or when it ends', () => {
  assert.deepEqual(did(nothing, { life: 'waiting' }), []);
  const crashed = anObservedPod(pod, { sandboxes: [aSandbox()], containers: [anInstance(pod, 'app', { state: exited(1) })] });
  assert.deepEqual(did(crashed, { restartHold: () => ({ notBeforeMs: 10_000, delayMs: 10_000 }) }), []);
  assert.ok(!did(running, { life: 'terminating' }).includes('prepare'));
});

test('what only a running pod needs is torn down once, after the last container of a pod that has ended for good', () => {
  assert.ok(!did(running, { phase: 'Succeeded' }).includes('tearDown'), 'a sidecar runs still');
  assert.equal(did(ended, { phase: 'Succeeded' }).at(-1), 'tearDown');
  assert.ok(!did(ended, { phase: 'Succeeded', isTornDown: true }).includes('tearDown'));
  assert.ok(!did(ended).includes('tearDown'), 'it may be started again');
});

test('a pod that terminates is released once nothing of it is in the engine, declared or not', () => {
  const deleted: Pod = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  for (const desired of [deleted, undefined]) {
    assert.ok(!did(running, { life: 'terminating' }, desired).includes('release'));
    assert.ok(!did(ended, { life: 'terminating' }, desired).includes('release'));
    assert.deepEqual(did(nothing, { life: 'terminating' }, desired), ['release']);
  }
});

test('a pod that the node ends is stopped within the grace period that the node gives it, and says why', () => {
  const end = { reason: 'Evicted', message: 'The node was low on resource: memory.', graceSeconds: 0 };
  const plan = planPodLife({ pod, source: 'api' }, running, { ...facts, end });
  const stop = plan.actions.find((action) => action.do === 'stopContainer');
  assert.equal(stop?.graceMs, 0);
  assert.match(plan.because.join(), /Evicted: The node was low on resource: memory/);
  assert.ok(!plan.actions.some((action) => action.do === 'prepare' || action.do === 'startContainer'));
});
