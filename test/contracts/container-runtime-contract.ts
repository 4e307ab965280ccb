import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { PodUid } from '../../src/model/pod.ts';
import { containerContract } from './container-contract.ts';
import { imageContract } from './image-contract.ts';
import { DEAF, type EngineUnderTest, RuntimeWorld } from './runtime-world.ts';
import { sandboxContract } from './sandbox-contract.ts';

/**
 * What every ContainerRuntime and ImageService promises, in sentences. `make` is called once a sentence; every pod of a run has a uid of
 * its own. `servedImage` is one that can be pulled, where there is a registry.
 */
export function containerRuntimeContract(name: string, make: () => Promise<EngineUnderTest>, servedImage?: string): void {
  describe(`${name} keeps the contract of a container runtime`, { timeout: 900_000 }, () => {
    let world: RuntimeWorld;
    beforeEach(async () => {
      world = new RuntimeWorld(await make());
    });
    afterEach(() => world.dispose());

    test('info names the engine and its versions', async () => {
      const info = await world.runtime.info(world.signal);
      assert.equal(info.name, world.facts.name);
      assert.match(info.version, /\d/);
      assert.match(info.apiVersion, /\d/);
    });

    describe('observing', () => {
      test('a pod that the engine does not know has no sandboxes and no containers', async () => {
        const observed = await world.runtime.observePod(randomUUID() as PodUid, world.signal);
        assert.deepEqual([observed.sandboxes, observed.containers], [[], []]);
      });

      test('a pod is seen under its own name, namespace and uid', async () => {
        const pod = world.pod([], {}, { namespace: 'kube-system' });
        await world.runSandbox(pod);
        const { uid, name: podName, namespace } = await world.observe(pod);
        assert.deepEqual({ uid, name: podName, namespace }, { uid: pod.metadata.uid, name: pod.metadata.name, namespace: 'kube-system' });
      });

      test('two pods do not see each other', async () => {
        const container = world.shell('app', DEAF);
        const [a, b] = [world.pod([container]), world.pod([container])];
        const [sandboxA, sandboxB] = await Promise.all([world.runSandbox(a), world.runSandbox(b)]);
        const [idA, idB] = await Promise.all([world.start(a, sandboxA, container), world.start(b, sandboxB, container)]);
        for (const [pod, sandbox, id] of [[a, sandboxA, idA] as const, [b, sandboxB, idB] as const]) {
          const observed = await world.observe(pod);
          assert.deepEqual([observed.sandboxes.map((s) => s.id), observed.containers.map((c) => c.id)], [[sandbox], [id]]);
        }
      });

      test('the newest sandbox and the newest container come first, each with its attempt', async () => {
        const container = world.shell('app', 'exit 0');
        const pod = world.pod([container]);
        for (const attempt of [0, 1]) {
          const sandbox = await world.runSandbox(pod, attempt);
          const id = await world.start(pod, sandbox, container, { attempt });
          await world.ended(pod, id);
          await world.runtime.stopSandbox(sandbox, world.signal);
        }
        const { sandboxes, containers } = await world.observe(pod);
        assert.deepEqual(
          [sandboxes.map((s) => s.attempt), containers.map((c) => [c.name, c.attempt])],
          [
            [1, 0],
            [
              ['app', 1],
              ['app', 0],
            ],
          ],
        );
      });
    });

    sandboxContract(() => world);
    containerContract(() => world);
    imageContract(() => world, servedImage);

    describe('listing', () => {
      test('every pod is there with all its parts, dead and alive, and an unchanged engine is told alike', async () => {
        const dead = world.shell('dead', 'exit 0');
        const alive = world.shell('alive', DEAF);
        const pod = world.pod([dead, alive]);
        const empty = world.pod();
        const sandbox = await world.runSandbox(pod);
        const deadId = await world.start(pod, sandbox, dead);
        const aliveId = await world.start(pod, sandbox, alive);
        const emptyId = await world.runSandbox(empty);
        await world.runtime.stopSandbox(emptyId, world.signal);
        await world.ended(pod, deadId);

        const list = async () => {
          const pods = await world.runtime.listPods(world.signal);
          return [pod, empty].map((of) => pods.find((p) => p.uid === of.metadata.uid));
        };
        const [full, lone] = await list();
        assert.deepEqual([full?.name, full?.namespace], [pod.metadata.name, 'default']);
        assert.deepEqual(
          new Set(full?.parts.map((p) => `${p.id} ${p.container ?? 'sandbox'} ${p.phase}`)),
          new Set([`${sandbox} sandbox running`, `${deadId} dead exited`, `${aliveId} alive running`]),
        );
        assert.deepEqual(lone?.parts, [{ id: emptyId, container: undefined, phase: 'exited' }]);
        assert.deepEqual(await list(), [full, lone]);
      });

      test('a pod whose parts are all removed is not listed', async () => {
        const pod = world.pod();
        const id = await world.runSandbox(pod);
        await world.runtime.stopSandbox(id, world.signal);
        await world.runtime.removeSandbox(id, world.signal);
        assert.ok(!(await world.runtime.listPods(world.signal)).some((p) => p.uid === pod.metadata.uid));
      });
    });

    describe('hints', () => {
      test('name the pod after a sandbox and after a container has started', async () => {
        const container = world.shell('app', DEAF);
        const pod = world.pod([container]);
        const afterSandbox = world.nextHint(pod);
        const sandbox = await world.runSandbox(pod);
        assert.equal(await afterSandbox, pod.metadata.uid);
        const afterStart = world.nextHint(pod);
        await world.start(pod, sandbox, container);
        assert.equal(await afterStart, pod.metadata.uid);
      });

      test('name the pod after a container has exited by itself', async () => {
        const { pod, id } = await world.run('sleep 1; exit 3');
        const hint = world.nextHint(pod);
        assert.equal((await world.container(pod, id)).state.phase, 'running');
        assert.equal(await hint, pod.metadata.uid);
        assert.equal((await world.ended(pod, id)).exitCode, 3);
      });

      test('reach each of several subscribers', async () => {
        const pod = world.pod();
        const both = Promise.all([world.nextHint(pod), world.nextHint(pod)]);
        await world.runSandbox(pod);
        assert.deepEqual(await both, [pod.metadata.uid, pod.metadata.uid]);
      });
    });

    test('an aborted signal rejects every call with its reason, and nothing happens', async () => {
      const container = world.shell('app', DEAF);
      const pod = world.pod([container]);
      const sandbox = await world.runSandbox(pod);
      const id = await world.start(pod, sandbox, container);
      const before = await world.observe(pod);
      const reason = new Error('the pod was deleted');
      const signal = AbortSignal.abort(reason);
      const { runtime, images } = world;
      const spec = await world.spec(container, { attempt: 1 });
      const calls = {
        info: () => runtime.info(signal),
        listPods: () => runtime.listPods(signal),
        observePod: () => runtime.observePod(pod.metadata.uid, signal),
        runSandbox: () => runtime.runSandbox(pod, { attempt: 1, hostname: pod.metadata.name }, signal),
        createContainer: () => runtime.createContainer(pod, sandbox, spec, signal),
        startContainer: () => runtime.startContainer(pod, sandbox, spec, signal),
        updateContainer: () => runtime.updateContainer(id, pod, container, 'cpu', signal),
        stopContainer: () => runtime.stopContainer(id, 0, signal),
        removeContainer: () => runtime.removeContainer(id, signal),
        stopSandbox: () => runtime.stopSandbox(sandbox, signal),
        removeSandbox: () => runtime.removeSandbox(sandbox, signal),
        inspectImage: () => images.inspectImage(world.image, signal),
        pullImage: () => images.pullImage(world.image, undefined, () => {}, signal),
      };
      for (const [verb, call] of Object.entries(calls)) await assert.rejects(call(), (error) => error === reason, verb);
      assert.deepEqual(await world.observe(pod), before);
    });
  });
}
