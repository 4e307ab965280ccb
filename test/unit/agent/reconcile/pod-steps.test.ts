import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import type { Container, Pod, PodUid } from '../../../../src/model/pod.ts';
import { ContainerStartError } from '../../../../src/model/container-start-error.ts';
import type { ContainerHooks } from '../../../../src/ports/container-hooks.ts';
import type { ContainerId, ObservedPod, SandboxId } from '../../../../src/ports/container-runtime.ts';
import { PodMemory } from '../../../../src/agent/reconcile/pod-memory.ts';
import type { StepContext } from '../../../../src/agent/reconcile/pod-reconciler.ts';
import { podSteps, type PodStepsDeps } from '../../../../src/agent/reconcile/pod-steps.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance, anObservedPod, exited } from '../../../builders/an-observed-pod.ts';

const never = new AbortController().signal;
const ID = 'app-0' as ContainerId;
const stopApp = { do: 'stopContainer', id: ID, name: 'app', graceMs: 30_000, why: 'Stopping container app' } as const;

const engine: PodStepsDeps['runtime'] = {
  createContainer: async () => ({ start: async () => ID }),
  startContainer: async () => ID,
  updateContainer: async () => {},
  stopContainer: async () => {},
  removeContainer: async () => {},
  stopSandbox: async () => {},
  removeSandbox: async () => {},
};

/** The steps on an engine that notes what it is told, with these hooks and other parts. */
function steps(hooks: Partial<ContainerHooks> = {}, over: Partial<PodStepsDeps> = {}) {
  const done: string[] = [];
  const memory = new PodMemory();
  const executors = podSteps({
    runtime: { ...engine, stopContainer: async (id, graceMs) => void done.push(`stop ${id} in ${graceMs}`) },
    runSandbox: async () => ({ id: 'sandbox' as SandboxId, ips: [] }),
    images: { ensureImage: async () => 'image', presentImage: async () => undefined },
    events: { record: (_pod, _type, reason, message) => done.push(`${reason}: ${message}`) },
    report: { imageVolumesShown: ({ volumes, mounts, failed }) => done.push(`images ${volumes} at ${mounts}${failed ? ' failed' : ''}`) },
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
    participants: { prepare: async () => undefined, sandbox: async () => ({ hostname: 'h' }), tearDown: async () => {} },
    admit: async () => undefined,
    resize: async () => undefined,
    resizes: { started: () => {}, updated: () => {}, failed: () => {} },
    release: async () => {},
    networkFault: () => undefined,
    onRestart: () => {},
    containerSpec: async (_pod, container) => ({
      container,
      attempt: 0,
      imageRef: 'image',
      env: [],
      command: undefined,
      args: undefined,
      mounts: [],
    }),
    ...over,
  });
  return { done, memory, executors };
}

/** An engine on which a sandbox takes until it is let go, and a container is created at once; `done` says what happened. */
function slowSandbox(over: { readonly runs?: boolean; readonly creates?: boolean; readonly present?: boolean } = {}) {
  const { runs = true, creates = true, present = true } = over;
  const gate = Promise.withResolvers<void>();
  const parts: Partial<PodStepsDeps> = {
    runtime: {
      createContainer: async () => {
        log.push('create');
        if (!creates) throw new Error('no space left on device');
        return {
          start: async () => {
            log.push('start of what was created');
            return ID;
          },
        };
      },
      startContainer: async () => {
        log.push('create and start');
        return ID;
      },
      updateContainer: async () => {},
      stopContainer: async () => {},
      removeContainer: async () => {},
      stopSandbox: async () => {},
      removeSandbox: async () => {},
    },
    runSandbox: async (_pod, _spec, _signal, onCreated) => {
      onCreated?.('sandbox' as SandboxId);
      await gate.promise;
      log.push('sandbox');
      if (!runs) throw new Error('no address is left');
      return { id: 'sandbox' as SandboxId, ips: ['10.0.0.2'] };
    },
    images: {
      ensureImage: async () => {
        log.push('ensure image');
        return 'image';
      },
      presentImage: async () => (present ? { ref: 'image', tell: () => log.push('Pulled') } : undefined),
    },
  };
  const { done: log, executors } = steps({}, parts);
  const run = { do: 'runSandbox', attempt: 0 } as const;
  const start = { do: 'startContainer', name: 'app', attempt: 0, init: false } as const;
  /** Both steps, the sandbox let go when all else has come to rest. */
  const play = async (observed: ObservedPod): Promise<unknown> => {
    const at: StepContext = { ...context(pod, observed), sandbox: undefined };
    const sandbox = executors.runSandbox(run, at, never, start);
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    return sandbox.then(
      () => executors.startContainer(start, at, never),
      (error: unknown) => error,
    );
  };
  return { log, play };
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

for (const [reason, told] of [
  ['ErrImagePull', 'ErrImagePull'],
  ['SignatureValidationFailed', 'SignatureValidationFailed'],
  ['RegistryUnavailable', 'RegistryUnavailable'],
  ['CreateContainerConfigError', 'the words'],
] as const)
  test(`a start that fails for ${reason} is told as ${told}: the image puller has said the rest`, async () => {
    const ensureImage = async (): Promise<string> => Promise.reject(new ContainerStartError(reason, 'the words'));
    const { done, executors } = steps({}, { images: { ensureImage, presentImage: async () => undefined } });
    const start = { do: 'startContainer', name: 'app', attempt: 0, init: false } as const;
    await assert.rejects(executors.startContainer(start, context(pod, anObservedPod(pod)), never), { reason });
    assert.deepEqual(done, [`Failed: Error: ${told}`]);
  });

test('a restart of all containers is counted once the one that asked for it is removed', async () => {
  const counted: string[] = [];
  let fails = true;
  const removeContainer = async (): Promise<void> => (fails ? Promise.reject(new Error('the engine is away')) : undefined);
  const { executors } = steps(
    {},
    {
      runtime: { ...engine, removeContainer },
      onRestart: (_pod, { name }) => void counted.push(name),
    },
  );
  const observed = anObservedPod(pod, { containers: [anInstance(pod, 'app', { state: exited(42) })] });
  const remove = { do: 'removeContainer', id: ID, name: 'app' } as const;
  await assert.rejects(executors.removeContainer({ ...remove, restartsAll: true }, context(pod, observed), never));
  fails = false;
  await executors.removeContainer(remove, context(pod, observed), never);
  assert.deepEqual(counted, []);
  await executors.removeContainer({ ...remove, restartsAll: true }, context(pod, observed), never);
  assert.deepEqual(counted, ['app']);
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

test('images that a container mounts are told of once it is made, or its runtime could not mount them', async () => {
  const mounting = aPod('web', {
    containers: [aContainer('app', { volumeMounts: ['/a', '/b'].map((mountPath) => ({ name: 'i', mountPath })) })],
    volumes: [{ name: 'i', image: { reference: 'data:1' } }],
  });
  const start = { do: 'startContainer', name: 'app', attempt: 0, init: false } as const;
  const told = async (
    startContainer: () => Promise<ContainerId>,
    of = mounting,
    image = async () => 'image',
  ): Promise<readonly string[]> => {
    const images = { ensureImage: image, presentImage: async () => undefined };
    const { done, executors } = steps({}, { images, runtime: { ...engine, startContainer } });
    const ended = executors.startContainer(start, context(of, anObservedPod(of, {})), never);
    await Promise.resolve(ended).catch(() => {});
    return done.filter((each) => each.startsWith('images'));
  };
  const fails = (message: string) => () => Promise.reject(new ContainerStartError('CreateContainerError', message));
  assert.deepEqual(await told(async () => ID), ['images 1 at 2']);
  assert.deepEqual(await told(fails('ImageVolumeMountFailed: no such image')), ['images 1 at 2 failed']);
  assert.deepEqual(await told(fails('no space left on device')), ['images 1 at 2']);
  assert.deepEqual(await told(async () => ID, pod), []);
  assert.deepEqual(await told(async () => ID, mounting, fails('no such image')), []);
});

test('the container that comes next is created while its sandbox starts; its events come after that, in their order', async () => {
  const { log, play } = slowSandbox();
  await play(anObservedPod(pod, {}));
  assert.deepEqual(log, [
    'create',
    'sandbox',
    'Pulled',
    'start of what was created',
    'Created: Created container app',
    'Started: Started container app',
  ]);
});

test('of what was made ahead in a sandbox that did not start nothing is told', async () => {
  const { log, play } = slowSandbox({ runs: false });
  assert.match(String(await play(anObservedPod(pod, {}))), /run the sandbox of web_default/);
  assert.deepEqual(log, ['create', 'sandbox', 'FailedCreatePodSandBox: Failed to create pod sandbox: no address is left']);
});

test('what is made ahead is a part of the step, which waits for it, and not of the call that starts the sandbox', async () => {
  const within = new AsyncLocalStorage<string>();
  const madeWithin: (string | undefined)[] = [];
  const { executors } = steps(
    {},
    {
      runtime: {
        ...engine,
        createContainer: async () => {
          madeWithin.push(within.getStore());
          return { start: async () => ID };
        },
      },
      runSandbox: (_pod, _spec, _signal, onCreated) =>
        within.run('call', async () => {
          onCreated?.('sandbox' as SandboxId);
          return { id: 'sandbox' as SandboxId, ips: [] };
        }),
      images: { ensureImage: async () => 'image', presentImage: async () => ({ ref: 'image', tell: () => {} }) },
    },
  );
  const start = { do: 'startContainer', name: 'app', attempt: 0, init: false } as const;
  const at: StepContext = { ...context(pod, anObservedPod(pod, {})), sandbox: undefined };
  await within.run('step', async () => executors.runSandbox({ do: 'runSandbox', attempt: 0 }, at, never, start));
  assert.deepEqual(madeWithin, ['step']);
});

test('a container that could not be created ahead is created in its turn', async () => {
  const { log, play } = slowSandbox({ creates: false });
  await play(anObservedPod(pod, {}));
  assert.deepEqual(log.slice(0, 4), ['create', 'sandbox', 'ensure image', 'create and start']);
});

test('an image that is not there is pulled when the sandbox runs', async () => {
  const { log, play } = slowSandbox({ present: false });
  await play(anObservedPod(pod, {}));
  assert.deepEqual(log.slice(0, 3), ['sandbox', 'ensure image', 'create and start']);
});

test('a container whose sandbox did not start the last time is not created ahead again', async () => {
  const { log, play } = slowSandbox();
  await play(anObservedPod(pod, { containers: [anInstance(pod, 'app', { state: { phase: 'created' } })] }));
  assert.deepEqual(log.slice(0, 3), ['sandbox', 'ensure image', 'create and start']);
});

test('a pod is prepared for no sandbox that cannot be connected, unless it is on the network of the node', async () => {
  const prepared: string[] = [];
  const participants = { prepare: async () => void prepared.push('prepared'), sandbox: async () => ({}), tearDown: async () => {} };
  const over = { participants: participants as unknown as PodStepsDeps['participants'], networkFault: () => 'no CNI configuration' };
  const { done, executors } = steps({}, over);
  const run = { do: 'runSandbox', attempt: 0 } as const;
  await assert.rejects(
    async () => executors.prepare({ do: 'prepare' }, context(pod, anObservedPod(pod, {})), never, run),
    /network is not ready/,
  );
  assert.deepEqual([prepared, done], [[], ['NetworkNotReady: network is not ready: no CNI configuration']]);
  const onNode = { ...pod, spec: { ...pod.spec, hostNetwork: true } };
  await executors.prepare({ do: 'prepare' }, context(onNode, anObservedPod(pod, {})), never, run);
  // What runs has its network.
  await executors.prepare({ do: 'prepare' }, context(pod, anObservedPod(pod, {})), never, undefined);
  assert.equal(prepared.length, 2);
});
