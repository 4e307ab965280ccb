import assert from 'node:assert/strict';
import { lstat, mkdir, statfs } from 'node:fs/promises';
import { describe, test, type TestContext } from 'node:test';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { NodeUsage } from '../../../src/ports/pod-stats.ts';
import type { RunningContainer, RunningPod } from '../../../src/ports/running-pods.ts';
import { podStats, type PodStatsDeps } from '../../../src/stats/pod-stats.ts';
import { aMachine, cgroupV1, cgroupV2, procOfMachine } from '../../builders/a-machine.ts';
import { aPod } from '../../builders/a-pod.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { directHostFiles } from '../../fakes/direct-host-files.ts';

const never = new AbortController().signal;
const uid = 'uid-web' as PodUid;
const START_MS = 1_000_000_000;

const container = (id: string, name: string, pid: number): RunningContainer => ({
  id: id as ContainerId,
  name,
  engineName: `k8s_${name}`,
  image: 'busybox:1.35',
  startedAtMs: START_MS,
  pid,
});

const versions = {
  'version 1': {
    cgroup: cgroupV1,
    procCgroup: (path: string) => `2:cpu,cpuacct:${path}\n3:memory:${path}\n4:pids:${path}\n5:blkio:${path}\n`,
    marker: {},
  },
  'version 2': {
    cgroup: cgroupV2,
    procCgroup: (path: string) => `0::${path}\n`,
    marker: { 'sys/fs/cgroup/cgroup.controllers': 'cpu memory' },
  },
} as const;
type Version = keyof typeof versions;

async function setUp(t: TestContext, version: Version, over: { readonly below?: string; readonly deps?: Partial<PodStatsDeps> } = {}) {
  const { below = '/docker' } = over;
  const { cgroup, procCgroup, marker } = versions[version];
  const machine = await aMachine({
    ...procOfMachine,
    ...marker,
    ...cgroup('/', { cpuNs: 9e9, usage: 600_000, inactive: 100_000 }),
    ...cgroup(`${below}/aaa`, { cpuNs: 3e9, usage: 5000, inactive: 1000, limit: '8000' }),
    ...cgroup(`${below}/ppp`, { cpuNs: 1e9, usage: 700, inactive: 0 }),
    'proc/100/cgroup': procCgroup(`${below}/aaa`),
    'proc/101/cgroup': procCgroup(`${below}/ppp`),
    'proc/101/net/dev': ' eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n',
    'layer/file': 'x'.repeat(5000),
    'logs/aaa-json.log': 'x',
    'logs/aaa-json.log.1': 'y'.repeat(9000),
    'logs/other': 'z'.repeat(90_000),
    'root/pods/uid-web/volumes/kubernetes.io~empty-dir/data/file': 'x'.repeat(5000),
    'root/pods/uid-web/volumes/kubernetes.io~csi/claimed/file': 'x',
  });
  // Version 2 keeps no memory account of the whole machine.
  if (version === 'version 2') await machine.write({ 'sys/fs/cgroup/memory.stat': 'anon 1\n', 'sys/fs/cgroup/memory.current': '' });
  t.after(() => machine.remove());
  const clock = new FakeClock();
  await clock.advance(START_MS + 10_000);
  const stale: string[] = [];
  const pods: RunningPod[] = [
    {
      uid,
      name: 'web',
      namespace: 'default',
      network: 'pod',
      sandbox: container('ppp', 'POD', 101),
      containers: [{ ...container('aaa', 'app', 100), logPath: machine.at('logs/aaa-json.log'), writableLayer: machine.at('layer') }],
    },
  ];
  const listings = { count: 0 };
  const stats = podStats({
    cgroups: await readCgroupHierarchy(machine.at('sys/fs/cgroup')),
    hostFiles: directHostFiles,
    clock,
    running: {
      list: () => {
        listings.count++;
        return Promise.resolve([...pods]);
      },
      stale: (id) => stale.push(id),
    },
    pods: {
      get: () => ({
        pod: aPod('web', { volumes: [{ name: 'claimed', persistentVolumeClaim: { claimName: 'disk' } }] }),
        source: 'api',
      }),
    },
    statuses: { get: () => ({ startTime: '2001-01-01T00:00:00Z' }) },
    rootDir: machine.at('root'),
    imageDir: () => Promise.resolve(machine.root),
    imageBytes: () => Promise.resolve(4242),
    runtimePidFile: machine.at('docker.pid'),
    proc: machine.at('proc'),
    ...over.deps,
  });
  t.after(() => {
    stats.close();
    assert.equal(clock.actions.length, 0, 'no timer is left');
  });
  return { machine, clock, stats, pods, stale, listings };
}

/** Lets files be read and the clock go on until `asked` is answered. */
async function answer<T>(clock: FakeClock, asked: Promise<T>): Promise<T> {
  const state = { done: false };
  const settled = asked.finally(() => {
    state.done = true;
  });
  settled.catch(() => {});
  while (!state.done) await clock.advance(0.1);
  return settled;
}

for (const version of ['version 1', 'version 2'] as const) {
  describe(`with cgroups of ${version}`, () => {
    test('a container tells processors, memory, what it wrote, logs, limits and tasks', async (t) => {
      const { clock, stats } = await setUp(t, version);
      const [pod] = await answer(clock, stats.pods(never));
      const app = pod?.containers[0];
      assert.equal(app?.cpu?.usageCoreNanoSeconds, 3e9);
      // It began ten seconds ago.
      assert.ok(Math.abs((app?.cpu?.usageNanoCores ?? 0) - 3e8) < 1e7, String(app?.cpu?.usageNanoCores));
      assert.deepEqual([app?.memory?.workingSetBytes, app?.memory?.availableBytes, app?.memory?.rssBytes], [4000, 4000, 300]);
      assert.equal(app?.rootfs?.usedBytes, 8192 + (await blocksOf()));
      assert.equal(app?.rootfs?.inodesUsed, 2);
      assert.equal(app?.logs?.usedBytes, 4096 + 12_288);
      assert.deepEqual([app?.processes, app?.threads, app?.cgroup], [2, 3, '/docker/aaa']);
      assert.deepEqual([app?.limits?.cpuQuotaUs, app?.limits?.memoryBytes], [50_000, 8000]);
      assert.deepEqual(app?.cpu?.throttling?.throttledPeriods, 21);
    });

    test('a container tells swap, processes killed for memory, disks, and how long it waited where that is counted', async (t) => {
      const { clock, stats } = await setUp(t, version);
      const [pod] = await answer(clock, stats.pods(never));
      const app = pod?.containers[0];
      const isV2 = version === 'version 2';
      assert.deepEqual([app?.memory?.swapBytes, app?.memory?.swapLimitBytes, app?.memory?.oomKills], [11, isV2 ? 20 : undefined, 6]);
      assert.deepEqual(app?.disks, [{ device: '/dev/sda', readBytes: 4096, writtenBytes: 512, reads: 3, writes: 1 }]);
      assert.deepEqual(
        [app?.pressure?.cpu?.some, app?.pressure?.cpu?.full.totalUs, app?.pressure?.io?.some.totalUs],
        isV2 ? [{ avg10: 1.5, avg60: 0.2, avg300: 0, totalUs: 5000 }, 40, 7000] : [undefined, undefined, undefined],
      );
      assert.deepEqual([pod?.memory?.swapBytes, pod?.pressure], [22, undefined]);
    });

    test('a pod is the sum of its containers, with the network of its sandbox', async (t) => {
      const { clock, stats } = await setUp(t, version);
      const [pod] = await answer(clock, stats.pods(never));
      assert.deepEqual([pod?.uid, pod?.namespace, pod?.startedAtMs], [uid, 'default', Date.parse('2001-01-01T00:00:00Z')]);
      assert.equal(pod?.cpu?.usageCoreNanoSeconds, 4e9);
      assert.equal(pod?.memory?.workingSetBytes, 4700);
      assert.deepEqual(
        pod?.network?.interfaces.map(({ name, rxBytes, txDropped }) => [name, rxBytes, txDropped]),
        [['eth0', 1, 8]],
      );
      assert.equal(pod?.sandbox?.name, 'POD');
      assert.equal(pod?.processes, 4);
      assert.equal(pod?.cgroup, undefined);
    });

    test('a pod with a cgroup of its own is what that one counts', async (t) => {
      const parent = '/kubepods/poduid-web';
      const { clock, stats, machine } = await setUp(t, version, { below: parent });
      await machine.write(versions[version].cgroup(parent, { cpuNs: 7e9, usage: 9000, inactive: 0 }));
      const [pod] = await answer(clock, stats.pods(never));
      assert.deepEqual([pod?.cgroup, pod?.cpu?.usageCoreNanoSeconds, pod?.memory?.usageBytes], [parent, 7e9, 9000]);
      assert.notEqual(pod?.cpu?.usageNanoCores, undefined);
      assert.equal(pod?.pressure?.memory?.some.totalUs, version === 'version 2' ? 6000 : undefined);
    });

    test('the node tells its own, without network ends of pods', async (t) => {
      const { clock, stats } = await setUp(t, version);
      const node = await answer(clock, stats.node(never));
      assert.equal(node.cpu?.usageCoreNanoSeconds, 9e9);
      assert.notEqual(node.cpu?.usageNanoCores, undefined);
      const [usage, workingSet] = version === 'version 1' ? [600_000, 500_000] : [614_400, 512_000];
      assert.deepEqual([node.memory?.usageBytes, node.memory?.workingSetBytes], [usage, workingSet]);
      assert.equal(node.memory?.availableBytes, 1_024_000 - workingSet);
      assert.deepEqual(
        node.network?.interfaces.map(({ name }) => name),
        ['ens3'],
      );
      assert.deepEqual([node.pids?.max, node.pids?.running, node.startedAtMs], [20_000, 545, 1_000_000]);
      assert.equal(node.imageFs?.usedBytes, 4242);
      assert.equal(node.fs?.device, '/dev/root');
      assert.deepEqual([node.swap?.usedBytes, node.swap?.availableBytes], [20 * 1024, 480 * 1024]);
      assert.deepEqual([node.pressure?.cpu?.some.totalUs, node.pressure?.io], [90, undefined], "the machine's own");
      assert.deepEqual(
        node.disks?.map(({ device, reads }) => [device, reads]),
        [['/dev/sda', 3]],
      );
      assert.deepEqual(
        node.systemContainers.map(({ name, cpu, memory }) => [name, cpu?.usageCoreNanoSeconds, memory?.workingSetBytes]),
        [
          ['kubelet', 5e8, 81_920],
          ['pods', 4e9, 4700],
        ],
      );
    });
  });
}

describe('stats', () => {
  test('of volumes count what lies in them, and name the claim', async (t) => {
    const { clock, stats } = await setUp(t, 'version 1');
    const [pod] = await answer(clock, stats.pods(never));
    const volumes = new Map(pod?.volumes.map((volume) => [volume.name, volume]));
    assert.deepEqual([...volumes.keys()].toSorted(), ['claimed', 'data']);
    assert.equal(volumes.get('data')?.inodesUsed, 2);
    assert.deepEqual(volumes.get('claimed')?.claim, { name: 'disk', namespace: 'default' });
    // What the container wrote, its logs and the emptyDir, but not the claim.
    const app = pod?.containers[0];
    const parts = [app?.rootfs?.usedBytes, app?.logs?.usedBytes, volumes.get('data')?.usedBytes];
    assert.equal(
      pod?.ephemeralStorage?.usedBytes,
      parts.reduce((a = 0, b = 0) => a + b, 0),
    );
    assert.equal(pod?.ephemeralStorage?.inodesUsed, 4);
  });

  test('of a CSI driver’s volume are the driver’s, by the name that the pod has for it', async (t) => {
    const csi = async (_uid: PodUid, name: string) =>
      name === 'claimed' ? { volume: 'mine', stats: { atMs: 7, usedBytes: 5, capacityBytes: 9 } } : undefined;
    const { clock, stats } = await setUp(t, 'version 1', { deps: { csi } });
    const [pod] = await answer(clock, stats.pods(never));
    const mine = pod?.volumes.find(({ name }) => name === 'mine');
    assert.deepEqual(mine, { name: 'mine', atMs: 7, usedBytes: 5, capacityBytes: 9 });
  });

  test('of a volume on a file system of its own are that one’s', async (t) => {
    const { clock, stats, machine } = await setUp(t, 'version 1');
    const path = machine.at('root/pods/uid-web/volumes/kubernetes.io~csi/claimed');
    await machine.write({ 'proc/self/mountinfo': `1 0 8:1 / / rw - ext4 /dev/root rw\n2 1 8:2 / ${path} rw - xfs /dev/disk rw\n` });
    const [pod] = await answer(clock, stats.pods(never));
    const claimed = pod?.volumes.find(({ name }) => name === 'claimed');
    assert.equal(claimed?.device, '/dev/disk');
    // Others write to it, too, while this runs.
    assert.ok(Math.abs((claimed?.usedBytes ?? 0) - (await usedBytes(path))) < 1e9);
    assert.equal(claimed?.inodesUsed === 2, false, 'not what lies below the directory');
  });

  test('of what lies in directories are counted anew where they must be, and are as old as a minute otherwise', async (t) => {
    const { clock, stats, machine } = await setUp(t, 'version 1');
    const inodes = async (how?: 'afresh'): Promise<number | undefined> => {
      const [pod] = await answer(clock, stats.pods(never, how));
      return pod?.volumes.find(({ name }) => name === 'data')?.inodesUsed;
    };
    assert.equal(await inodes(), 2);
    await machine.write({ 'root/pods/uid-web/volumes/kubernetes.io~empty-dir/data/more': 'x' });
    await clock.advance(1_000);
    assert.equal(await inodes(), 2);
    assert.equal(await inodes('afresh'), 3);
    await clock.advance(1_000);
    assert.equal(await inodes(), 3);
  });

  test('without the rest measure processors and memory alone', async (t) => {
    const { clock, stats } = await setUp(t, 'version 1');
    const [pod] = await answer(clock, stats.pods(never, 'cpuAndMemory'));
    const node = await answer(clock, stats.node(never, 'cpuAndMemory'));
    assert.deepEqual(Object.keys(pod?.containers[0] ?? {}).toSorted(), ['cpu', 'id', 'memory', 'name', 'startedAtMs']);
    assert.deepEqual(Object.keys(node).toSorted(), ['cpu', 'memory', 'startedAtMs', 'swap', 'systemContainers']);
  });

  for (const version of ['version 1', 'version 2'] as const)
    test(`that the node may run short of are the same by themselves, and measure no pod, with cgroups of ${version}`, async (t) => {
      const { clock, stats, listings } = await setUp(t, version);
      const signals = await answer(clock, stats.node(never, 'signals'));
      assert.equal(listings.count, 0);
      assert.deepEqual(Object.keys(signals).toSorted(), ['fs', 'imageFs', 'memory', 'pids', 'startedAtMs', 'systemContainers']);
      const all = await answer(clock, stats.node(never));
      const told = ({ memory, fs, imageFs, pids }: NodeUsage): unknown => [
        [memory?.availableBytes, memory?.workingSetBytes],
        [fs?.fileSystem, fs?.capacityBytes, fs?.inodes, imageFs?.fileSystem, imageFs?.capacityBytes],
        [pids?.max, pids?.running],
      ];
      assert.deepEqual(told(signals), told(all));
    });

  test('of all pods together are those of their cgroup', async (t) => {
    const { clock, stats } = await setUp(t, 'version 1', { deps: { podsCgroup: () => '/docker/aaa' } });
    const pods = async (only?: 'signals') =>
      (await answer(clock, stats.node(never, only))).systemContainers.find(({ name }) => name === 'pods');
    const [signals, all] = [await pods('signals'), await pods()];
    assert.ok(signals?.memory?.availableBytes);
    assert.deepEqual(
      [signals.memory.availableBytes, signals.memory.workingSetBytes],
      [all?.memory?.availableBytes, all?.memory?.workingSetBytes],
    );
  });

  test('are measured once for all who ask within a second', async (t) => {
    const { clock, stats, listings } = await setUp(t, 'version 1');
    await answer(clock, stats.pods(never, 'cpuAndMemory'));
    await answer(clock, stats.pods(never, 'cpuAndMemory'));
    assert.equal(listings.count, 1);
    await clock.advance(1000);
    await answer(clock, stats.pods(never, 'cpuAndMemory'));
    assert.equal(listings.count, 2);
  });

  test('of what has run for long take a second sample at first', async (t) => {
    const { clock, stats, pods } = await setUp(t, 'version 1');
    const [pod] = pods;
    assert.ok(pod?.sandbox);
    pods[0] = { ...pod, containers: pod.containers.map((each) => ({ ...each, startedAtMs: 0 })) };
    const startedAtMs = clock.now();
    const [used] = await answer(clock, stats.pods(never, 'cpuAndMemory'));
    assert.equal(used?.containers[0]?.cpu?.usageNanoCores, 0);
    assert.ok(clock.now() - startedAtMs >= 100);
  });

  test('of a process number that is another’s by now are nothing, and the engine is asked anew', async (t) => {
    const { clock, stats, machine, stale } = await setUp(t, 'version 1');
    await machine.write({ 'proc/100/cgroup': '3:memory:/user.slice\n' });
    const [pod] = await answer(clock, stats.pods(never));
    assert.deepEqual([pod?.containers[0]?.name, pod?.containers[0]?.cpu], ['app', undefined]);
    assert.deepEqual([...new Set(stale)], ['aaa']);
  });

  test('of the engine need its process, not the number that one left behind', async (t) => {
    const { clock, stats, machine } = await setUp(t, 'version 1');
    await machine.write({ 'docker.pid': '55', 'proc/55/stat': '55 (sshd) S 1 9 9 0 -1 0 11 0 2 0 30 20 0 0 20 0 1 0 500' });
    const names = async () => (await answer(clock, stats.node(never))).systemContainers.map(({ name }) => name);
    assert.deepEqual(await names(), ['kubelet', 'pods']);
    await machine.write({ 'proc/55/stat': '55 (dockerd) S 1 9 9 0 -1 0 11 0 2 0 30 20 0 0 20 0 1 0 500' });
    await clock.advance(1000);
    assert.deepEqual(await names(), ['kubelet', 'runtime', 'pods']);
  });

  test('of the daemons are those of their cgroups, where these are known and there', async (t) => {
    const daemonCgroups = { kubelet: '', runtime: '/engine', misc: '/system' };
    const { clock, stats, machine } = await setUp(t, 'version 1', { deps: { daemonCgroups } });
    const use = async () => {
      const { systemContainers } = await answer(clock, stats.node(never));
      await clock.advance(1000);
      return systemContainers.map(({ name, cpu }) => [name, cpu?.usageCoreNanoSeconds]);
    };
    assert.deepEqual(await use(), [
      ['kubelet', 5e8],
      ['pods', 4e9],
    ]);
    await machine.write({
      ...cgroupV1('/engine', { cpuNs: 7e9, usage: 9000, inactive: 0 }),
      ...cgroupV1('/system', { cpuNs: 6e9, usage: 9000, inactive: 0 }),
    });
    assert.deepEqual(await use(), [
      ['kubelet', 5e8],
      ['runtime', 7e9],
      ['misc', 6e9],
      ['pods', 4e9],
    ]);
  });

  test('of the swap are left out where the kernel tells numbers that cannot be', async (t) => {
    const { clock, stats, machine } = await setUp(t, 'version 1');
    for (const [total, free] of [
      ['500', '501'],
      ['99999999999999999999', '0'],
    ]) {
      await machine.write({ 'proc/meminfo': `MemTotal: 1000 kB\nSwapTotal: ${total} kB\nSwapFree: ${free} kB\n` });
      assert.equal((await answer(clock, stats.node(never))).swap, undefined);
      await clock.advance(1000);
    }
  });

  test('of all pods is that of the cgroup that they are in, and the sum of theirs where there is none', async (t) => {
    const { clock, stats, machine } = await setUp(t, 'version 1', { deps: { podsCgroup: () => '/kubepods' } });
    const pods = async () => {
      const { systemContainers } = await answer(clock, stats.node(never));
      await clock.advance(1000);
      return systemContainers.find(({ name }) => name === 'pods')?.cpu?.usageCoreNanoSeconds;
    };
    assert.equal(await pods(), 4e9);
    await machine.write(cgroupV1('/kubepods', { cpuNs: 7e9, usage: 9000, inactive: 0 }));
    assert.equal(await pods(), 7e9);
  });

  test('go without what the engine does not tell', async (t) => {
    const refuse = () => Promise.reject(new Error('no engine'));
    const { clock, stats } = await setUp(t, 'version 1', { deps: { imageDir: refuse, imageBytes: refuse } });
    assert.equal((await answer(clock, stats.node(never))).imageFs, undefined);
    const [pod] = await answer(clock, stats.pods(never));
    assert.equal(pod?.containers[0]?.rootfs, undefined);
    assert.notEqual(pod?.containers[0]?.logs, undefined);
  });
});

/** What an empty directory takes here. */
async function blocksOf(): Promise<number> {
  const machine = await aMachine({});
  await mkdir(machine.at('empty'));
  const { blocks } = await lstat(machine.at('empty'));
  await machine.remove();
  return blocks * 512;
}

async function usedBytes(path: string): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(path);
  return (blocks - bfree) * bsize;
}
