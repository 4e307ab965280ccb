import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../../../../src/model/pod.ts';
import type { ObservedContainer } from '../../../../src/ports/container-runtime.ts';
import { type ComputedPodActions, computePodActions, type ContainerFacts } from '../../../../src/agent/reconcile/compute-pod-actions.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, aSandbox, exited } from '../../../builders/an-observed-pod.ts';

const cpu = (limit: string): NonNullable<PodSpec['resources']> => ({ limits: { cpu: limit } });
const compute = (pod: Pod, containers: readonly ObservedContainer[], facts: Partial<ContainerFacts> = {}): ComputedPodActions =>
  computePodActions(pod, anObservedPod(pod, { sandboxes: [aSandbox()], containers }), {
    liveness: () => undefined,
    startup: () => undefined,
    ...facts,
  });
const recorded = (limit: string): Partial<ContainerFacts> => ({ actuated: { container: () => cpu(limit), pod: undefined } });

test('a container gets other resources as it runs, what shrinks before what grows', () => {
  const pod = aPod('p', { containers: [aContainer('up', { resources: cpu('3') }), aContainer('down', { resources: cpu('1') })] });
  const actions = compute(pod, [anInstance(pod, 'up'), anInstance(pod, 'down')], recorded('2'));
  assert.deepEqual(
    actions.containersToUpdate.cpu.map(({ name, desired, current }) => [name, current.cpuLimit, desired.cpuLimit]),
    [
      ['down', 2000, 1000],
      ['up', 2000, 3000],
    ],
  );
  assert.deepEqual([actions.containersToUpdate.memory, actions.containersToKill, actions.updatePodResources], [[], [], false]);
});

test('a resize policy restarts the container for the resource that it names only', () => {
  const restarting = (resourceName: string): object => ({ resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] });
  const pod = (resource: string): Pod => aPod('p', { containers: [aContainer('c', { resources: cpu('3'), ...restarting(resource) })] });
  const restarted = compute(pod('cpu'), [anInstance(pod('cpu'), 'c')], recorded('2'));
  assert.deepEqual(
    restarted.containersToKill.map(({ message }) => message),
    ['Container c resize requires restart'],
  );
  assert.deepEqual([restarted.containersToStart.length, restarted.updatePodResources], [1, true]);
  assert.equal(compute(pod('memory'), [anInstance(pod('memory'), 'c')], recorded('2')).containersToUpdate.cpu.length, 1);
});

test('without a record of resources they are not compared', () => {
  const pod = aPod('p', { containers: [aContainer('c', { resources: cpu('3') })] });
  assert.deepEqual(compute(pod, [anInstance(pod, 'c')]).containersToUpdate, { cpu: [], memory: [] });
});

test('when all containers restart, the one whose end asked for it is removed last', () => {
  const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } };
  const asking = aContainer('asking', { restartPolicy: 'Never', restartPolicyRules: [rule] });
  const pod = aPod('p', { containers: [asking, aContainer('other')], initContainers: [aContainer('init')] });
  const containers = [
    anInstance(pod, 'asking', { state: exited(42) }),
    anInstance(pod, 'other'),
    anInstance(pod, 'init', { state: exited(0) }),
  ];
  const { containersToReset, containersToStart } = compute(pod, containers, { restartAllContainers: true });
  assert.deepEqual(
    containersToReset.map(({ name, kill }) => [name, kill]),
    [
      ['other', true],
      ['init', false],
      ['asking', false],
    ],
  );
  assert.deepEqual(containersToStart, []);
});

test('an ended app container does not prove that its pod is initialized, a running one does', () => {
  const pod = aPod('p', { containers: [aContainer('app')], initContainers: [aContainer('init')] });
  const names = (containers: readonly ObservedContainer[]): readonly string[] =>
    compute(pod, containers).initContainersToStart.map(({ name }) => name);
  assert.deepEqual(names([anInstance(pod, 'app', { state: exited(1) })]), ['init']);
  assert.deepEqual(names([anInstance(pod, 'app')]), []);
});
