import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodUid } from '../../../src/model/pod.ts';
import type { ContainerHooks } from '../../../src/ports/container-hooks.ts';
import type { ContainerId, ObservedPod, SandboxId } from '../../../src/ports/container-runtime.ts';
import { PodMemory } from '../../../src/reconcile/pod-memory.ts';
import type { StepContext } from '../../../src/reconcile/pod-reconciler.ts';
import { podSteps } from '../../../src/reconcile/pod-steps.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { anInstance, anObservedPod, exited } from '../../builders/an-observed-pod.ts';

const never = new AbortController().signal;
const ID = 'app-0' as ContainerId;
const stopApp = { do: 'stopContainer', id: ID, name: 'app', graceMs: 30_000, why: 'Stopping container app' } as const;

/** The steps on an engine that notes what it is told, with these hooks. */
function steps(hooks: Partial<ContainerHooks> = {}) {
  const done: string[] = [];
  const memory = new PodMemory();
  const executors = podSteps({
    runtime: {
      startContainer: async () => ID,
      stopContainer: async (id, graceMs) => void done.push(`stop ${id} in ${graceMs}`),
      removeContainer: async () => {},
      stopSandbox: async () => {},
      removeSandbox: async () => {},
    },
    runSandbox: async () => 'sandbox' as SandboxId,
    images: { ensureImage: async () => 'image' },
    events: { record: (_pod, _type, reason, message) => done.push(`${reason}: ${message}`) },
    memory,
    restarts: { mark: async () => {} },
    hooks: {
      postStart: async () => undefined,
      preStop: async (_pod: Pod, container: Container, _id: ContainerId, graceMs: number) => {
        done.push(`preStop ${container.name} ${container.lifecycle?.preStop ? 'with' : 'without'} a hook`);
        return graceMs - 5_000;
      },
      ended: (id) => done.push(`ended ${id}`),
      ...hooks,
    },
    prepare: async () => {},
    network: { fault: () => undefined, sandbox: async () => ({ hostname: 'h' }) },
    onStart: () => {},
    containerSpec: async (_pod, container) => ({
      container,
      attempt: 0,
      imageRef: 'image',
      env: [],
      command: undefined,
      args: undefined,
      mounts: [],
    }),
  });
  return { done, memory, executors };
}

function context(pod: Pod | undefined, observed: ObservedPod): StepContext {
  return { uid: observed.uid, desired: pod && { pod, source: 'file' }, observed, sandbox: 'sandbox' as SandboxId };
}

const lifecycle = { preStop: { exec: { command: ['bye'] } } };
const pod = aPod('web', { containers: [aContainer('app', { lifecycle })] });

test('a stop gives preStop its time, and the container what is left', async () => {
  const { done, executors } = steps();
  await executors.stopContainer(stopApp, context(pod, anObservedPod(pod, { containers: [anInstance(pod, 'app')] })), never);
  assert.deepEqual(done, ['Killing: Stopping container app', 'preStop app with a hook', 'stop app-0 in 25000', 'ended app-0']);
});

test('a container that has ended has no preStop', async () => {
  const { done, executors } = steps();
  const observed = anObservedPod(pod, { containers: [anInstance(pod, 'app', { state: exited(0) })] });
  await executors.stopContainer(stopApp, context(pod, observed), never);
  assert.deepEqual(done.slice(1), ['stop app-0 in 30000', 'ended app-0']);
});

test('a pod that nobody remembers has the hook that its labels tell', async () => {
  const { done, executors } = steps();
  const observed = anObservedPod(pod, { containers: [{ ...anInstance(pod, 'app'), preStop: lifecycle.preStop }] });
  await executors.stopContainer(stopApp, context(undefined, observed), never);
  assert.deepEqual(done, ['preStop app with a hook', 'stop app-0 in 25000', 'ended app-0']);
});

test('a postStart that fails kills its container with the grace period of the pod, and is the reason why it waits', async () => {
  const { done, memory, executors } = steps({
    postStart: async (_pod, _container, _id, _signal, failed) => {
      await failed('it failed', never);
      return 'it failed';
    },
  });
  const start = { do: 'startContainer', name: 'app', attempt: 0, init: false } as const;
  await assert.rejects(executors.startContainer(start, context(pod, anObservedPod(pod, {})), never), {
    reason: 'PostStartHookError',
    message: 'it failed',
  });
  assert.deepEqual(done, [
    'Created: Created container app',
    'Started: Started container app',
    'FailedPostStartHook: PostStartHook failed',
    'Killing: FailedPostStartHook',
    'preStop app with a hook',
    'stop app-0 in 25000',
    'ended app-0',
  ]);
  assert.deepEqual(memory.startFailures('uid-web' as PodUid).get('app'), { reason: 'PostStartHookError', message: 'it failed' });
});
