import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ContainerStartError } from '../../src/model/container-start-error.ts';
import type { PodUid } from '../../src/model/pod.ts';
import type { ContainerId, SandboxId } from '../../src/ports/container-runtime.ts';
import type { PullProgress } from '../../src/ports/image-service.ts';
import { type EngineUnderTest, RuntimeWorld } from './runtime-world.ts';

const UNKNOWN = 'f'.repeat(64);
/** Ends on SIGTERM with 7, through `wait`, which a trapped signal interrupts. */
const TRAPS = 'trap "exit 7" TERM; sleep 1000 & wait';
/** As process 1 of its container, a shell without a trap does not hear SIGTERM. */
const DEAF = 'sleep 1000; true';

const startError =
  (reason: ContainerStartError['reason']) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof ContainerStartError, String(error));
    assert.equal(error.reason, reason);
    assert.notEqual(error.message, '');
    return true;
  };

/** What every ContainerRuntime and ImageService promises, in sentences. `make` is called once a sentence; every pod of a run has a uid of its own. */
export function containerRuntimeContract(name: string, make: () => Promise<EngineUnderTest>): void {
  describe(`${name} keeps the contract of a container runtime`, { timeout: 300_000 }, () => {
    let world: RuntimeWorld;
    beforeEach(async () => {
      world = new RuntimeWorld(await make());
    });
    afterEach(() => world.dispose());

    test('info names the engine and its versions', async () => {
      const info = await world.runtime.info(world.signal);
      assert.match(info.name, /^(docker|fake)$/);
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

    describe('sandboxes', () => {
      test('a sandbox that runs is ready and has an address in a network of its own', async () => {
        const pod = world.pod();
        const since = Date.now();
        const id = await world.runSandbox(pod, 3);
        const [sandbox, ...rest] = (await world.observe(pod)).sandboxes;
        assert.deepEqual(rest, []);
        assert.deepEqual({ ...sandbox, ips: [], createdAtMs: 0 }, { id, attempt: 3, ready: true, network: 'pod', ips: [], createdAtMs: 0 });
        assert.match(sandbox?.ips[0] ?? '', /^\d+\.\d+\.\d+\.\d+$/);
        assert.ok(Math.abs((sandbox?.createdAtMs ?? 0) - since) < 30_000);
      });

      test('a pod on the host network says so', async () => {
        const pod = world.pod([], { hostNetwork: true });
        await world.runSandbox(pod);
        assert.deepEqual(
          (await world.observe(pod)).sandboxes.map((s) => [s.ready, s.network]),
          [[true, 'node']],
        );
      });

      test('a dead sandbox stays, and is not ready', async () => {
        const pod = world.pod();
        const id = await world.runSandbox(pod);
        await world.runtime.stopSandbox(id, world.signal);
        assert.deepEqual(
          (await world.observe(pod)).sandboxes.map((s) => [s.id, s.ready]),
          [[id, false]],
        );
      });

      test('a removed sandbox is gone', async () => {
        const pod = world.pod();
        const id = await world.runSandbox(pod);
        await world.runtime.stopSandbox(id, world.signal);
        await world.runtime.removeSandbox(id, world.signal);
        assert.deepEqual((await world.observe(pod)).sandboxes, []);
      });

      test('stopping and removing twice, or what never was, succeeds', async () => {
        const id = await world.runSandbox(world.pod());
        for (const each of [id, id, UNKNOWN as SandboxId]) await world.runtime.stopSandbox(each, world.signal);
        for (const each of [id, id, UNKNOWN as SandboxId]) await world.runtime.removeSandbox(each, world.signal);
      });

      for (const leftover of ['runs', 'is dead'] as const)
        test(`a sandbox whose name is taken by a leftover that ${leftover} replaces or adopts it`, async () => {
          const pod = world.pod();
          const first = await world.runSandbox(pod);
          if (leftover === 'is dead') await world.runtime.stopSandbox(first, world.signal);
          const id = await world.runSandbox(pod);
          assert.deepEqual(
            (await world.observe(pod)).sandboxes.map((s) => [s.id, s.attempt, s.ready]),
            [[id, 0, true]],
          );
        });
    });

    describe('containers', () => {
      test('a started container runs, with the times, the image and the attempt that it was given', async () => {
        const container = world.shell('app', DEAF);
        const pod = world.pod([container], { terminationGracePeriodSeconds: 7 });
        const sandbox = await world.runSandbox(pod);
        const id = await world.start(pod, sandbox, container, { attempt: 4 });
        const seen = await world.container(pod, id);
        assert.deepEqual([seen.name, seen.attempt, seen.state.phase, seen.terminationGracePeriodSeconds], ['app', 4, 'running', 7]);
        assert.equal(seen.deletionGracePeriodSeconds, undefined);
        const info = await world.images.inspectImage(world.image, world.signal);
        assert.ok(info?.repoTags.includes(seen.image), seen.image);
        assert.match(seen.imageId, /^docker(-pullable)?:\/\/.*sha256:[0-9a-f]{64}$/);
        assert.ok(Math.abs(seen.createdAtMs - Date.now()) < 30_000);
        assert.ok(seen.state.phase === 'running' && seen.state.startedAtMs >= seen.createdAtMs);
      });

      test('the grace period of a deletion comes back', async () => {
        const container = world.shell('app', DEAF);
        const pod = world.pod([container], {}, { deletionTimestamp: '2021-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 });
        const id = await world.start(pod, await world.runSandbox(pod), container);
        assert.equal((await world.container(pod, id)).deletionGracePeriodSeconds, 3);
      });

      test('the hash of the spec stays the same over attempts and differs for another spec', async () => {
        const container = world.shell('app', 'exit 0');
        const changed = { ...container, image: 'example.com/other:1' };
        const pod = world.pod([container]);
        const sandbox = await world.runSandbox(pod);
        const hashes: string[] = [];
        for (const [attempt, of] of [container, container, changed].entries()) {
          const id = await world.start(pod, sandbox, of, { attempt });
          await world.ended(pod, id);
          hashes.push((await world.container(pod, id)).specHash);
        }
        assert.match(hashes[0] ?? '', /^[0-9a-f]{1,8}$/);
        assert.equal(hashes[1], hashes[0]);
        assert.notEqual(hashes[2], hashes[0]);
      });

      for (const [script, exitCode, reason] of [
        ['exit 0', 0, 'Completed'],
        ['exit 3', 3, 'Error'],
        ['false', 1, 'Error'],
      ] as const)
        test(`a container that runs \`${script}\` ends exited ${exitCode} ${reason}`, async () => {
          const { pod, id } = await world.run(script);
          const state = await world.ended(pod, id);
          assert.deepEqual([state.exitCode, state.reason], [exitCode, reason]);
          assert.ok(state.startedAtMs !== undefined && state.startedAtMs <= state.finishedAtMs);
        });

      test('command, args and environment are those of the spec', async () => {
        const container = world.shell('app', '');
        const pod = world.pod([container]);
        const over = { command: ['sh'], args: ['-c', 'exit $CODE'], env: [{ name: 'CODE', value: '5' }] };
        const id = await world.start(pod, await world.runSandbox(pod), container, over);
        assert.equal((await world.ended(pod, id)).exitCode, 5);
      });

      test('a container of an image that the engine lacks is not created', async () => {
        const container = world.shell('app', 'exit 0');
        const pod = world.pod([container]);
        const sandbox = await world.runSandbox(pod);
        await assert.rejects(world.start(pod, sandbox, container, { imageRef: `sha256:${UNKNOWN}` }), startError('CreateContainerError'));
        assert.deepEqual((await world.observe(pod)).containers, []);
      });

      test('a container whose command does not exist cannot run, and shows it', async () => {
        const container = world.shell('app', '', { command: ['/nonexistent'] });
        const pod = world.pod([container]);
        await assert.rejects(world.start(pod, await world.runSandbox(pod), container), startError('RunContainerError'));
        const [seen] = (await world.observe(pod)).containers;
        assert.ok(seen?.state.phase === 'exited', JSON.stringify(seen));
        assert.deepEqual([seen.state.exitCode, seen.state.reason, seen.state.startedAtMs], [127, 'ContainerCannotRun', undefined]);
      });

      test('a container cannot run in a dead sandbox', async () => {
        const container = world.shell('app', 'exit 0');
        const pod = world.pod([container]);
        const sandbox = await world.runSandbox(pod);
        await world.runtime.stopSandbox(sandbox, world.signal);
        await assert.rejects(world.start(pod, sandbox, container), ContainerStartError);
      });

      for (const leftover of ['runs', 'has exited'] as const)
        test(`a container whose name is taken by a leftover that ${leftover} replaces or adopts it`, async () => {
          const container = world.shell('app', leftover === 'runs' ? DEAF : 'exit 3');
          const pod = world.pod([container]);
          const sandbox = await world.runSandbox(pod);
          const first = await world.start(pod, sandbox, container);
          if (leftover === 'has exited') await world.ended(pod, first);
          const again = { ...container, command: ['sh', '-c', DEAF] };
          const id = await world.start(pod, sandbox, again);
          const seen = (await world.observe(pod)).containers;
          assert.deepEqual(
            seen.map((c) => [c.id, c.attempt, c.state.phase]),
            [[id, 0, 'running']],
          );
        });

      test('a removed container is gone', async () => {
        const { pod, id } = await world.run('exit 0');
        await world.ended(pod, id);
        await world.runtime.removeContainer(id, world.signal);
        assert.deepEqual((await world.observe(pod)).containers, []);
      });

      test('stopping and removing twice, or what never was, succeeds', async () => {
        const { id } = await world.run(DEAF);
        for (const each of [id, id, UNKNOWN as ContainerId]) await world.runtime.stopContainer(each, 0, world.signal);
        for (const each of [id, id, UNKNOWN as ContainerId]) await world.runtime.removeContainer(each, world.signal);
      });
    });

    describe('stopping', () => {
      test('a container that ignores SIGTERM is killed after the grace period', async () => {
        const { pod, id } = await world.run(DEAF);
        const since = Date.now();
        await world.runtime.stopContainer(id, 1000, world.signal);
        const tookMs = Date.now() - since;
        const { state } = await world.container(pod, id);
        assert.ok(state.phase === 'exited', 'stopContainer resolves when it has ended');
        assert.deepEqual([state.exitCode, state.reason], [137, 'Error']);
        assert.ok(tookMs >= 950, `killed after ${tookMs} ms`);
      });

      test('a container that traps SIGTERM ends its own way, long before the grace period is over', async () => {
        const { pod, sandbox, id } = await world.run(TRAPS);
        await world.letShellsSettle(pod, sandbox);
        const since = Date.now();
        await world.runtime.stopContainer(id, 600_000, world.signal);
        assert.equal((await world.ended(pod, id)).exitCode, 7);
        assert.ok(Date.now() - since < 30_000);
      });

      test('without a grace period a container is killed at once', async () => {
        const { pod, id } = await world.run(DEAF);
        await world.runtime.stopContainer(id, 0, world.signal);
        assert.equal((await world.ended(pod, id)).exitCode, 137);
      });

      test('a container that has ended keeps its exit code when stopped', async () => {
        const { pod, id } = await world.run('exit 3');
        await world.ended(pod, id);
        await world.runtime.stopContainer(id, 1000, world.signal);
        assert.equal((await world.ended(pod, id)).exitCode, 3);
      });

      test('an abort stops the waiting, not the stopping', async () => {
        const { pod, id } = await world.run(DEAF);
        const deadline = AbortSignal.timeout(300);
        await assert.rejects(world.runtime.stopContainer(id, 2000, deadline), (reason) => reason === deadline.reason);
        assert.equal((await world.ended(pod, id)).exitCode, 137);
      });

      test('a second stop with a shorter grace period is not held up by the first', async () => {
        const { pod, id } = await world.run(DEAF);
        const deadline = AbortSignal.timeout(300);
        await assert.rejects(world.runtime.stopContainer(id, 600_000, deadline), (reason) => reason === deadline.reason);
        await world.runtime.stopContainer(id, 0, world.signal);
        assert.equal((await world.ended(pod, id)).exitCode, 137);
      });
    });

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
          new Set(full?.parts.map((p) => `${p.id} ${p.container} ${p.phase}`)),
          new Set([`${sandbox} POD running`, `${deadId} dead exited`, `${aliveId} alive running`]),
        );
        assert.deepEqual(lone?.parts, [{ id: emptyId, container: 'POD', phase: 'exited' }]);
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
        startContainer: () => runtime.startContainer(pod, sandbox, spec, signal),
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

    describe('images', () => {
      test('an image that the engine has is described', async () => {
        const info = await world.images.inspectImage(world.image, world.signal);
        assert.ok(info);
        assert.match(info.id, /^sha256:[0-9a-f]{64}$/);
        assert.ok(info.repoTags.includes(world.image), JSON.stringify(info));
        assert.ok(info.sizeBytes > 0);
        assert.equal(info.user, '');
      });

      test('an image is found by its id', async () => {
        const info = await world.images.inspectImage(world.image, world.signal);
        assert.deepEqual(await world.images.inspectImage(info?.id ?? '', world.signal), info);
      });

      test('an image that the engine lacks is undefined', async () => {
        assert.equal(await world.images.inspectImage(`absent-${randomUUID()}:none`, world.signal), undefined);
      });

      test('a pull resolves with the id of the image, and never tells more done than there is', async () => {
        const told: PullProgress[] = [];
        const id = await world.images.pullImage(world.image, undefined, (progress) => told.push(progress), world.signal);
        assert.equal(id, (await world.images.inspectImage(world.image, world.signal))?.id);
        for (const { layersDone, layers, bytesDone, bytes } of told)
          assert.ok(layersDone <= layers && bytesDone <= bytes, JSON.stringify(told));
      });

      test('a pull from a registry that nobody serves rejects with words', async () => {
        const pull = world.images.pullImage('127.0.0.1:1/nothing:1', undefined, () => {}, world.signal);
        await assert.rejects(pull, (error) => error instanceof Error && error.message !== '');
      });
    });
  });
}
