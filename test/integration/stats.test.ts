import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { readCgroupHierarchy } from '../../src/base/cgroup-hierarchy.ts';
import { systemClock } from '../../src/base/clock.ts';
import { engineDataDirectory, RunningContainers } from '../../src/engines/docker/observe/running-containers.ts';
import type { PodUsage } from '../../src/ports/pod-stats.ts';
import { podStats } from '../../src/stats/pod-stats.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import { dockerUnderTest, testImage } from '../builders/docker-under-test.ts';
import { directHostFiles } from '../fakes/direct-host-files.ts';

const MIB = 2 ** 20;

describe('on a real engine', () => {
  test('a pod that burns half a processor and writes 20 MiB shows just that', { timeout: 60_000 }, async (t) => {
    const { client, runtime, dispose } = await dockerUnderTest();
    const { signal } = t;
    const container = aContainer('burner', {
      image: testImage,
      resources: { limits: { cpu: '500m', memory: '64Mi' } },
    });
    const pod = aPod(`stats-${process.pid}`, { containers: [container], terminationGracePeriodSeconds: 0 });
    const { id: sandbox } = await runtime.runSandbox(pod, { attempt: 0, hostname: 'stats' }, signal);
    t.after(async () => {
      await runtime.stopSandbox(sandbox, AbortSignal.timeout(20_000));
      await runtime.removeSandbox(sandbox, AbortSignal.timeout(20_000));
      await dispose();
    });
    const id = await runtime.startContainer(
      pod,
      sandbox,
      {
        container,
        attempt: 0,
        imageRef: testImage,
        env: [],
        command: ['sh', '-c', 'dd if=/dev/zero of=/written bs=1M count=20 2>/dev/null; echo written; while :; do :; done'],
        args: undefined,
        mounts: [],
      },
      signal,
    );
    const running = new RunningContainers(client);
    // Its files are counted when somebody asks first, and then not for a minute.
    const [listed] = (await running.list(signal)).filter(({ uid }) => uid === pod.metadata.uid);
    const logPath = listed?.containers[0]?.logPath;
    assert.ok(logPath);
    while (!(await readFile(logPath, 'utf8')).includes('written')) await systemClock.sleep(50, signal);

    const stats = podStats({
      cgroups: await readCgroupHierarchy(),
      hostFiles: directHostFiles,
      clock: systemClock,
      running,
      pods: { get: () => undefined },
      statuses: { get: () => undefined },
      rootDir: '/var/lib',
      imageDir: (stop) => engineDataDirectory(client, stop),
    });
    t.after(() => stats.close());

    const measured = async (): Promise<PodUsage> => {
      const found = (await stats.pods(signal)).find(({ uid }) => uid === pod.metadata.uid);
      assert.ok(found, 'the pod is among those that run');
      return found;
    };
    const before = await measured();
    await systemClock.sleep(3000, signal);
    const usage = await measured();
    const [app] = usage.containers;
    assert.deepEqual([usage.name, usage.containers.length, app?.id, usage.sandbox?.id], [pod.metadata.name, 1, id, sandbox]);

    // With other work on the machine it may get less, but never much more than its limit.
    const spentMs = ((usage.cpu?.usageCoreNanoSeconds ?? 0) - (before.cpu?.usageCoreNanoSeconds ?? 0)) / 1e6;
    assert.ok(spentMs > 300 && spentMs < 3000, `${spentMs} ms of processor time in 3 s`);
    const nanoCores = app?.cpu?.usageNanoCores ?? 0;
    assert.ok(nanoCores > 1e8 && nanoCores < 7.5e8, `${nanoCores} nanocores`);
    assert.ok((app?.cpu?.throttling?.throttledPeriods ?? 0) > 0);
    assert.equal(app?.limits?.memoryBytes, 64 * MIB);
    assert.equal(app?.limits?.cpuShares, 512, 'as the engine was asked for it, whatever weight that is');
    const { workingSetBytes = 0, availableBytes = 0 } = app?.memory ?? {};
    assert.ok(workingSetBytes > 0 && workingSetBytes < 64 * MIB);
    assert.equal(availableBytes, 64 * MIB - workingSetBytes);

    const written = app?.rootfs?.usedBytes ?? 0;
    assert.ok(written >= 20 * MIB && written < 21 * MIB, `${written} bytes`);
    assert.ok((app?.logs?.usedBytes ?? 0) > 0 && (app?.logs?.usedBytes ?? 0) < MIB);
    assert.equal(usage.network?.interfaces[0]?.name, 'eth0');
    assert.equal(app?.processes, 1);

    const node = await stats.node(signal);
    assert.ok((node.cpu?.usageNanoCores ?? 0) > 0);
    assert.ok((node.memory?.workingSetBytes ?? 0) > workingSetBytes);
    assert.ok((node.imageFs?.capacityBytes ?? 0) > 0);

    await runtime.stopContainer(id, 0, signal);
    await systemClock.sleep(1100, signal);
    assert.deepEqual((await measured()).containers, [], 'what has ended uses nothing');
  });
});
