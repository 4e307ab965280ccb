import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ContainerStartError } from '../../src/model/container-start-error.ts';
import type { Container, Pod } from '../../src/model/pod.ts';
import type { ContainerId, ContainerSpec, CreatedContainer } from '../../src/ports/container-runtime.ts';
import { DEAF, type RuntimeWorld, UNKNOWN } from './runtime-world.ts';

/** Ends on SIGTERM with 7, through `wait`, which a trapped signal interrupts. */
const TRAPS = 'trap "exit 7" TERM; sleep 1000 & wait';

const startError =
  (reason: ContainerStartError['reason']) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof ContainerStartError, String(error));
    assert.equal(error.reason, reason);
    assert.notEqual(error.message, '');
    return true;
  };

/** What the verbs about containers promise. */
export function containerContract(world: () => RuntimeWorld): void {
  describe('containers', () => {
    test('a started container runs, with the times, the image and the attempt that it was given', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container], { terminationGracePeriodSeconds: 7 });
      const sandbox = await world().runSandbox(pod);
      const id = await world().start(pod, sandbox, container, { attempt: 4 });
      const seen = await world().container(pod, id);
      assert.deepEqual([seen.name, seen.attempt, seen.state.phase, seen.terminationGracePeriodSeconds], ['app', 4, 'running', 7]);
      assert.equal(seen.deletionGracePeriodSeconds, undefined);
      const info = await world().images.inspectImage(world().image, world().signal);
      assert.ok(info?.repoTags.includes(seen.image), seen.image);
      assert.ok(seen.imageNames?.includes(world().image) && seen.imageNames.includes(info?.id ?? ''), seen.imageNames?.join());
      assert.match(seen.imageId, world().facts.imageId);
      assert.ok(Math.abs(seen.createdAtMs - Date.now()) < 30_000);
      assert.ok(seen.state.phase === 'running' && seen.state.startedAtMs >= seen.createdAtMs);
    });

    test('a container tells as whom its first process began, also after its end, and what stops it', async () => {
      const container = world().shell('app', DEAF, { securityContext: { runAsUser: 1234, runAsGroup: 5678 } });
      const pod = world().pod([container]);
      const id = await world().start(pod, await world().runSandbox(pod), container);
      const { user, stopSignal } = await world().container(pod, id);
      assert.deepEqual([user?.uid, user?.gid, stopSignal], [1234, 5678, world().facts.namesStopSignals ? 'SIGTERM' : undefined]);
      await world().runtime.stopContainer(id, 0, world().signal);
      assert.deepEqual((await world().container(pod, id)).user, user);
    });

    test('the grace period of a deletion comes back', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container], {}, { deletionTimestamp: '2021-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 });
      const id = await world().start(pod, await world().runSandbox(pod), container);
      assert.equal((await world().container(pod, id)).deletionGracePeriodSeconds, 3);
    });

    test('the hash of the spec stays the same over attempts and differs for another spec', async () => {
      const container = world().shell('app', 'exit 0');
      const changed = { ...container, image: 'example.com/other:1' };
      const pod = world().pod([container]);
      const sandbox = await world().runSandbox(pod);
      const hashes: string[] = [];
      for (const [attempt, of] of [container, container, changed].entries()) {
        const id = await world().start(pod, sandbox, of, { attempt });
        await world().ended(pod, id);
        hashes.push((await world().container(pod, id)).specHash);
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
        const { pod, id } = await world().run(script);
        const state = await world().ended(pod, id);
        assert.deepEqual([state.exitCode, state.reason], [exitCode, reason]);
        // Docker takes the two times in different places: of a container that ends at once, the end may be milliseconds before the start.
        for (const atMs of [state.startedAtMs ?? 0, state.finishedAtMs])
          assert.ok(Math.abs(atMs - Date.now()) < 30_000, JSON.stringify(state));
      });

    test('command, args and environment are those of the spec', async () => {
      const container = world().shell('app', '');
      const pod = world().pod([container]);
      const over = { command: ['sh'], args: ['-c', 'exit $CODE'], env: [{ name: 'CODE', value: '5' }] };
      const id = await world().start(pod, await world().runSandbox(pod), container, over);
      assert.equal((await world().ended(pod, id)).exitCode, 5);
    });

    for (const [script, policy, message] of [
      ['echo bye >/dev/termination-log', 'File', 'bye\n'],
      ['echo a >/dev/termination-log; echo b >>/dev/termination-log; exit 1', 'File', 'a\nb\n'],
      ['echo lost; exit 1', 'File', ''],
      ['echo err >&2; exit 1', 'FallbackToLogsOnError', 'err\n'],
      ['echo fine', 'FallbackToLogsOnError', ''],
    ] as const)
      test(`a container that runs \`${script}\` under the policy ${policy} leaves ${JSON.stringify(message)}`, async () => {
        const container = world().shell('app', script, {
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: policy,
        });
        const pod = world().pod([container]);
        const id = await world().start(pod, await world().runSandbox(pod), container);
        assert.equal((await world().ended(pod, id)).message, message);
      });

    test('a container is made with the devices, CPUs, NUMA nodes, cgroup and handler that it is given', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      const { handler } = world();
      const cgroupParent = '/rxlet-contract/pod';
      const sandboxSpec = { ...world().sandboxSpec(pod), cgroupParent, handler };
      const { id: sandbox } = await world().runtime.runSandbox(pod, sandboxSpec, world().signal);
      const devices = [{ hostPath: '/dev/null', containerPath: '/dev/contract', permissions: 'rw' }];
      const id = await world().start(pod, sandbox, container, { devices, cpuset: '0', cpusetMems: '0', cgroupParent, handler });
      assert.equal((await world().container(pod, id)).state.phase, 'running');
      // A kernel without the controller has no say in it.
      const cpuset = world().cpusets ? '0' : '';
      const told = world().facts.tellsDevicePermissions ? devices : devices.map((device) => ({ ...device, permissions: '' }));
      assert.deepEqual(await world().madeWith(id), { devices: told, cpuset, cpusetMems: cpuset, cgroupParent, handler });
    });

    test('a running container moves to other CPUs as it is, and keeps its limits', async (t) => {
      if (!world().cpusets) return t.diagnostic('the kernel has no such controller');
      const container = world().shell('app', DEAF, { resources: { limits: { cpu: '500m' } } });
      const pod = world().pod([container]);
      const id = await world().start(pod, await world().runSandbox(pod), container);
      const before = await world().container(pod, id);
      assert.equal(before.cpuset, '');
      await world().runtime.updateContainer(id, pod, container, { cpuset: '0' }, world().signal);
      const after = await world().container(pod, id);
      assert.deepEqual([after.cpuset, after.resources, after.state], ['0', before.resources, before.state]);
    });

    test('a running container gets other CPU and memory as it is, and keeps what it has of the other', async () => {
      const withLimits = (cpu: string, memory: string): Container =>
        world().shell('app', DEAF, { resources: { requests: { cpu: '50m' }, limits: { cpu, memory } } });
      const small = withLimits('100m', '64Mi');
      const pod = world().pod([small]);
      const id = await world().start(pod, await world().runSandbox(pod), small);
      const before = await world().container(pod, id);
      const shown = async (): Promise<readonly unknown[]> => {
        const { state, resources } = await world().container(pod, id);
        assert.deepEqual(state, before.state);
        return [resources?.cpuRequest, resources?.cpuLimit, resources?.memoryLimit].map((amount) => amount?.canonical());
      };
      assert.deepEqual(await shown(), ['50m', '100m', '64Mi']);
      const large = withLimits('300m', '128Mi');
      await world().runtime.updateContainer(id, pod, large, 'cpu', world().signal);
      assert.deepEqual(await shown(), ['50m', '300m', '64Mi']);
      await world().runtime.updateContainer(id, pod, large, 'memory', world().signal);
      assert.deepEqual(await shown(), ['50m', '300m', '128Mi']);
      for (const resource of ['cpu', 'memory'] as const) await world().runtime.updateContainer(id, pod, small, resource, world().signal);
      assert.deepEqual(await shown(), ['50m', '100m', '64Mi']);
      const unlimited = { ...small, resources: { requests: { cpu: '50m' } } };
      for (const resource of ['cpu', 'memory'] as const)
        await world().runtime.updateContainer(id, pod, unlimited, resource, world().signal);
      assert.deepEqual(await shown(), ['50m', undefined, undefined]);
    });

    test('a container that is gone cannot get other resources', async () => {
      const container = world().shell('app', DEAF, { resources: { limits: { cpu: '1' } } });
      await assert.rejects(
        world().runtime.updateContainer(UNKNOWN as ContainerId, world().pod([container]), container, 'cpu', world().signal),
      );
    });

    test('a container of an image that the engine lacks is not created', async () => {
      const container = world().shell('app', 'exit 0');
      const pod = world().pod([container]);
      const sandbox = await world().runSandbox(pod);
      await assert.rejects(world().start(pod, sandbox, container, { imageRef: `sha256:${UNKNOWN}` }), startError('CreateContainerError'));
      assert.deepEqual((await world().observe(pod)).containers, []);
    });

    test('a container whose command does not exist cannot run, and shows it', async () => {
      const container = world().shell('app', '', { command: ['/nonexistent'] });
      const pod = world().pod([container]);
      await assert.rejects(world().start(pod, await world().runSandbox(pod), container), startError('RunContainerError'));
      const [seen] = (await world().observe(pod)).containers;
      assert.ok(seen?.state.phase === 'exited', JSON.stringify(seen));
      const { exitCode, reason, startedAt } = world().facts.failedStart;
      assert.deepEqual([seen.state.exitCode, seen.state.reason], [exitCode, reason]);
      assert.equal(seen.state.startedAtMs, startedAt === 'not told' ? undefined : seen.createdAtMs);
      if (startedAt === 'not told') assert.ok(seen.state.finishedAtMs >= seen.createdAtMs);
      else assert.equal(seen.state.finishedAtMs, seen.createdAtMs);
    });

    test('a container cannot run in a dead sandbox', async () => {
      const container = world().shell('app', 'exit 0');
      const pod = world().pod([container]);
      const sandbox = await world().runSandbox(pod);
      await world().runtime.stopSandbox(sandbox, world().signal);
      await assert.rejects(world().start(pod, sandbox, container), ContainerStartError);
    });

    for (const leftover of ['runs', 'has exited'] as const)
      test(`a container whose name is taken by a leftover that ${leftover} replaces or adopts it`, async () => {
        const container = world().shell('app', leftover === 'runs' ? DEAF : 'exit 3');
        const pod = world().pod([container]);
        const sandbox = await world().runSandbox(pod);
        const first = await world().start(pod, sandbox, container);
        if (leftover === 'has exited') await world().ended(pod, first);
        const again = { ...container, command: ['sh', '-c', DEAF] };
        const id = await world().start(pod, sandbox, again);
        const seen = (await world().observe(pod)).containers;
        assert.deepEqual(
          seen.map((c) => [c.id, c.attempt, c.state.phase]),
          [[id, 0, 'running']],
        );
      });

    test('a removed container is gone', async () => {
      const { pod, id } = await world().run('exit 0');
      await world().ended(pod, id);
      await world().runtime.removeContainer(id, world().signal);
      assert.deepEqual((await world().observe(pod)).containers, []);
    });

    test('stopping and removing twice, or what never was, succeeds', async () => {
      const { id } = await world().run(DEAF);
      for (const each of [id, id, UNKNOWN as ContainerId]) await world().runtime.stopContainer(each, 0, world().signal);
      for (const each of [id, id, UNKNOWN as ContainerId]) await world().runtime.removeContainer(each, world().signal);
    });
  });

  describe('creating ahead', () => {
    /** Runs a sandbox and creates the container in it as soon as that is there; resolves once both have happened. */
    const createAhead = async (pod: Pod, container: Container, over: Partial<ContainerSpec> = {}) => {
      const spec = await world().spec(container, over);
      const creating: Promise<CreatedContainer>[] = [];
      const sandbox = await world().runtime.runSandbox(pod, world().sandboxSpec(pod), world().signal, (id) => {
        const one = world().runtime.createContainer(pod, id, spec, world().signal);
        // Handled below, also where it comes before the sandbox.
        one.catch(() => {});
        creating.push(one);
      });
      const [created] = await Promise.all(creating);
      assert.ok(created, 'runSandbox tells that the sandbox is there');
      return { sandbox, created, spec };
    };

    test('a container is created in a sandbox that does not run yet, and runs once it is started', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      const { created, spec } = await createAhead(pod, container, { attempt: 3 });
      const [before] = (await world().observe(pod)).containers;
      assert.deepEqual([before?.state, before?.attempt], [{ phase: 'created' }, 3]);
      const id = await created.start(spec, world().signal);
      assert.deepEqual(
        (await world().observe(pod)).containers.map((c) => [c.id, c.attempt, c.state.phase]),
        [[before?.id, 3, 'running']],
      );
      assert.equal(id, before?.id);
    });

    test('a container that is to be another by its start is another', async () => {
      const container = world().shell('app', 'exit $CODE');
      const pod = world().pod([container]);
      const { created, spec } = await createAhead(pod, container, { env: [{ name: 'CODE', value: '1' }] });
      const id = await created.start({ ...spec, env: [{ name: 'CODE', value: '5' }] }, world().signal);
      assert.equal((await world().ended(pod, id)).exitCode, 5);
      assert.deepEqual((await world().observe(pod)).containers.length, 1);
    });

    test('what an earlier agent created and did not start is made again, as it is to be by now', async () => {
      const container = world().shell('app', 'exit $CODE');
      const pod = world().pod([container]);
      const { sandbox } = await createAhead(pod, container, { env: [{ name: 'CODE', value: '1' }] });
      const id = await world().start(pod, sandbox.id, container, { env: [{ name: 'CODE', value: '5' }] });
      assert.equal((await world().ended(pod, id)).exitCode, 5);
      assert.deepEqual(
        (await world().observe(pod)).containers.map((c) => [c.id, c.attempt]),
        [[id, 0]],
      );
    });

    test('a container that was created in another sandbox does not keep its name from the next', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      const { sandbox } = await createAhead(pod, container);
      await world().runtime.stopSandbox(sandbox.id, world().signal);
      const id = await world().start(pod, await world().runSandbox(pod, 1), container);
      assert.deepEqual(
        (await world().observe(pod)).containers.map((c) => [c.id, c.attempt, c.state.phase]),
        [[id, 0, 'running']],
      );
    });

    test('a container whose sandbox has died cannot be started, and says so', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      const { sandbox, created, spec } = await createAhead(pod, container);
      await world().runtime.stopSandbox(sandbox.id, world().signal);
      await assert.rejects(created.start(spec, world().signal), startError('RunContainerError'));
      assert.notEqual((await world().observe(pod)).containers[0]?.state.phase, 'running');
    });

    test('a container that was created and not started goes with its sandbox', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      const { sandbox } = await createAhead(pod, container);
      await world().runtime.stopSandbox(sandbox.id, world().signal);
      await world().runtime.removeSandbox(sandbox.id, world().signal);
      const { sandboxes, containers } = await world().observe(pod);
      assert.deepEqual([sandboxes, containers], [[], []]);
    });

    test('an image that the engine lacks is told, and nothing is created', async () => {
      const container = world().shell('app', DEAF);
      const pod = world().pod([container]);
      await assert.rejects(createAhead(pod, container, { imageRef: `sha256:${UNKNOWN}` }), startError('CreateContainerError'));
      assert.deepEqual((await world().observe(pod)).containers, []);
    });
  });

  describe('stopping', () => {
    test('a container that ignores SIGTERM is killed after the grace period', async () => {
      const { pod, id } = await world().run(DEAF);
      const since = Date.now();
      await world().runtime.stopContainer(id, 1000, world().signal);
      const tookMs = Date.now() - since;
      const { state } = await world().container(pod, id);
      assert.ok(state.phase === 'exited', 'stopContainer resolves when it has ended');
      assert.deepEqual([state.exitCode, state.reason], [137, 'Error']);
      assert.ok(tookMs >= 950, `killed after ${tookMs} ms`);
    });

    test('a container that traps SIGTERM ends its own way, long before the grace period is over', async () => {
      const { pod, sandbox, id } = await world().run(TRAPS);
      await world().letShellsSettle(pod, sandbox);
      const since = Date.now();
      await world().runtime.stopContainer(id, 600_000, world().signal);
      assert.equal((await world().ended(pod, id)).exitCode, 7);
      assert.ok(Date.now() - since < 30_000);
    });

    test("a container is stopped with the signal that its spec names, and tells which, or with its image's", async () => {
      const script = 'trap "exit 9" USR1; trap "exit 8" TERM; sleep 1000 & wait';
      const container = world().shell('app', script, { lifecycle: { stopSignal: 'SIGUSR1' } });
      const pod = world().pod([container]);
      const sandbox = await world().runSandbox(pod);
      const id = await world().start(pod, sandbox, container);
      await world().letShellsSettle(pod, sandbox);
      const named = world().facts.namesStopSignals;
      assert.equal((await world().container(pod, id)).stopSignal, named ? 'SIGUSR1' : undefined);
      await world().runtime.stopContainer(id, 600_000, world().signal);
      assert.equal((await world().ended(pod, id)).exitCode, named ? 9 : 8);
    });

    test('without a grace period a container is killed at once', async () => {
      const { pod, id } = await world().run(DEAF);
      await world().runtime.stopContainer(id, 0, world().signal);
      assert.equal((await world().ended(pod, id)).exitCode, 137);
    });

    test('a container that has ended keeps its exit code when stopped', async () => {
      const { pod, id } = await world().run('exit 3');
      await world().ended(pod, id);
      await world().runtime.stopContainer(id, 1000, world().signal);
      assert.equal((await world().ended(pod, id)).exitCode, 3);
    });

    test('an abort stops the waiting, not the stopping', async () => {
      const { pod, id } = await world().run(DEAF);
      const deadline = AbortSignal.timeout(300);
      await assert.rejects(world().runtime.stopContainer(id, 2000, deadline), (reason) => reason === deadline.reason);
      assert.equal((await world().ended(pod, id)).exitCode, 137);
    });

    test('a second stop with a shorter grace period is not held up by the first', async () => {
      const { pod, id } = await world().run(DEAF);
      const deadline = AbortSignal.timeout(300);
      await assert.rejects(world().runtime.stopContainer(id, 600_000, deadline), (reason) => reason === deadline.reason);
      await world().runtime.stopContainer(id, 0, world().signal);
      assert.equal((await world().ended(pod, id)).exitCode, 137);
    });
  });
}
