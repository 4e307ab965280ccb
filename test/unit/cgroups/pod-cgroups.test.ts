import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CgroupManager } from '../../../src/cgroups/cgroup-manager.ts';
import { PodCgroups } from '../../../src/cgroups/pod-cgroups.ts';
import type { CgroupOperation } from '../../../src/ports/happenings.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { CgroupsInMemory, failure } from '../../fakes/cgroups-in-memory.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;
const MI = 2 ** 20;

function world({ driver = 'cgroupfs' }: { readonly driver?: 'cgroupfs' | 'systemd' } = {}) {
  const fs = new CgroupsInMemory();
  const clock = new FakeClock();
  const told: CgroupOperation[] = [];
  const killed: number[] = [];
  const resized: PodUid[] = [];
  const manager = new CgroupManager({
    fs,
    driver,
    slices: undefined,
    hugePageSizes: new Map(),
    clock,
    tell: { cgroupOperated: ({ operation }) => told.push(operation) },
    kill: (pid) => killed.push(pid),
  });
  const limiting = { periodUs: 100_000, enforceCpuLimits: true, customPeriod: true };
  const pods = new PodCgroups({ manager, pods: ['kubepods'], limiting, podPidsLimit: 64, onResized: (uid) => resized.push(uid) });
  return { fs, clock, told, killed, resized, pods };
}

const limited = (cpu: string, memory: string, uid = 'u1'): Pod =>
  aPod(
    'web',
    { containers: [aContainer('app', { resources: { limits: { cpu, memory }, requests: { cpu, memory } } })] },
    { uid: uid as PodUid },
  );

test('a pod that has not changed costs one look at its cgroup', async () => {
  const { fs, pods, told } = world();
  const pod = limited('1', '64Mi');
  await pods.prepare(pod);
  assert.deepEqual(fs.written, [
    '/kubepods/podu1 cpu.shares=1024',
    '/kubepods/podu1 cpu.cfs_period_us=100000',
    '/kubepods/podu1 cpu.cfs_quota_us=100000',
    `/kubepods/podu1 memory.limit_in_bytes=${64 * MI}`,
    '/kubepods/podu1 pids.max=64',
  ]);
  await pods.prepare(pod);
  assert.deepEqual([fs.written.length, told], [5, ['create']]);
});

test('what its cgroup is set to is not worked out again for a pod that is as it was', async () => {
  const { fs, pods } = world();
  let read = 0;
  const pod = limited('1', '64Mi');
  const { containers } = pod.spec;
  const counted = { ...pod, spec: Object.defineProperty({ ...pod.spec }, 'containers', { get: () => (read++, containers) }) };
  await pods.prepare(counted);
  const first = read;
  await pods.prepare(counted);
  assert.deepEqual([first > 0, read - first, fs.written.length], [true, 0, 5]);
});

test('what the cgroup is set to is known once it is, and reported where it changes', async () => {
  const { pods, resized } = world();
  const uid = 'u1' as PodUid;
  assert.equal(pods.settings(uid), undefined);
  await pods.prepare(limited('1', '64Mi'));
  assert.deepEqual(pods.settings(uid), { cpuShares: 1024, cpuQuota: 100_000, cpuPeriod: 100_000, memory: 64 * MI });
  assert.deepEqual(resized, []);
  await pods.prepare(limited('2', '64Mi'));
  assert.deepEqual([pods.settings(uid)?.cpuQuota, resized], [200_000, [uid]]);
  await pods.release(uid, never);
  assert.equal(pods.settings(uid), undefined);
});

test('a cgroup that went underneath is made again, and one that another made in its place is set', async () => {
  const { fs, pods, told } = world();
  const pod = limited('1', '64Mi');
  await pods.prepare(pod);
  await fs.remove('/kubepods/podu1');
  await pods.prepare(pod);
  assert.equal(fs.written.length, 10);
  await fs.remove('/kubepods/podu1');
  fs.has('/kubepods/podu1');
  await pods.prepare(pod);
  assert.deepEqual([fs.written.length, told], [15, ['create', 'create', 'update']]);
});

test('memory shrinks once the containers have less, and never below what is used', async () => {
  const { fs, pods } = world();
  await pods.prepare(limited('1', '64Mi'));
  fs.has('/kubepods/podu1/c', { 'memory.limit_in_bytes': `${64 * MI}` });
  const late = await pods.prepare(limited('1', '32Mi'));
  assert.match(late?.message ?? '', /keeps its memory limit until its containers have less/);
  fs.has('/kubepods/podu1/c', { 'memory.limit_in_bytes': `${32 * MI}` });
  fs.has('/kubepods/podu1', { 'memory.usage_in_bytes': `${32 * MI + 1}` });
  assert.match(
    (await pods.prepare(limited('1', '32Mi')))?.message ?? '',
    /attempting to set pod memory limit \(33554432\) below current usage \(33554433\)/,
  );
  fs.has('/kubepods/podu1', { 'memory.usage_in_bytes': `${32 * MI}` });
  assert.equal(await pods.prepare(limited('1', '32Mi')), undefined);
  assert.equal(await fs.read('/kubepods/podu1', 'memory', 'memory.limit_in_bytes'), `${32 * MI}`);
});

test('CPU shrinks once the kernel lets it, and a period that does not go with the old quota goes with the new one', async () => {
  const { fs, pods } = world();
  await pods.prepare(limited('1', '64Mi'));
  fs.refuses = (_, { file }) => (file === 'cpu.cfs_quota_us' ? failure('EINVAL') : undefined);
  assert.match((await pods.prepare(limited('500m', '64Mi')))?.message ?? '', /keeps its CPU limit until its containers have less/);
  let refused = false;
  fs.refuses = (_, { file }) => {
    if (file !== 'cpu.cfs_period_us' || refused) return undefined;
    refused = true;
    return failure('EINVAL');
  };
  assert.equal(await pods.prepare(limited('500m', '64Mi')), undefined);
  assert.equal(await fs.read('/kubepods/podu1', 'cpu', 'cpu.cfs_quota_us'), '50000');
});

test('a cgroup that cannot be made or set keeps the pod from starting, with the file, the value and the reason', async () => {
  const { fs, pods } = world();
  fs.refuses = () => failure('EROFS');
  await assert.rejects(pods.prepare(limited('1', '64Mi')), /set cpu.shares of cgroup \/kubepods\/podu1 to 1024: EROFS/);
});

test('a pod is released whatever class it was of: what is left in it is killed', async () => {
  const { fs, pods, killed, clock } = world();
  fs.has('/kubepods/burstable/podu1', {}, 4711, 0, process.pid);
  const released = pods.release('u1' as PodUid, never);
  await clock.advance(5);
  assert.deepEqual(killed.slice(0, 1), [4711]);
  assert(!killed.includes(0) && !killed.includes(process.pid));
  fs.cgroups.get('/kubepods/burstable/podu1')?.pids.clear();
  await clock.advance(1300);
  await released;
  assert.equal(await pods.remains('u1' as PodUid), undefined);
  await pods.release('u1' as PodUid, never);
});

test('what does not end is named, and the release fails to be tried again', async () => {
  const { fs, pods, clock } = world();
  fs.has('/kubepods/besteffort/podu1', {}, 4711);
  const released = assert.rejects(
    pods.release('u1' as PodUid, never),
    /cgroup \/kubepods\/besteffort\/podu1 cannot be removed: processes 4711 do not end: EBUSY/,
  );
  for (let i = 0; i < 10; i++) await clock.advance(700);
  await released;
  assert.equal(await pods.remains('u1' as PodUid), 'cgroup /kubepods/besteffort/podu1');
});

test('uids that no cgroup can be named after have one all the same, each its own', async () => {
  for (const driver of ['cgroupfs', 'systemd'] as const) {
    const { fs, pods } = world({ driver });
    const uids = ['a_b', 'a-b', '../../etc', 'x'.repeat(5000), 'x'.repeat(5001), 'ü'];
    for (const uid of uids) await pods.prepare(limited('1', '64Mi', uid));
    const paths = [...fs.cgroups.keys()].filter((path) => /pod[^/]+$/.test(path) && !/kubepods(\.slice)?$/.test(path));
    assert.equal(paths.length, uids.length);
    for (const path of paths)
      assert(
        path.split('/').every((part) => part.length <= 255 && part !== '..'),
        path,
      );
    for (const uid of uids) await pods.release(uid as PodUid, never);
    assert.deepEqual(
      [...fs.cgroups.keys()].filter((path) => /pod[^/]+$/.test(path) && !/kubepods(\.slice)?$/.test(path)),
      [],
    );
  }
});

test('cgroups of pods that nobody knows are removed where nothing runs in them; all others stay', async () => {
  const { fs, pods } = world();
  for (const path of ['/kubepods/burstable/podold', '/kubepods/pododd_name', '/kubepods/burstable/other', '/kubepods/besteffort/podengine'])
    fs.has(path);
  fs.has('/kubepods/podbusy', {}, 4711);
  await pods.prepare(limited('1', '64Mi', 'a_b'));
  await pods.prepare(limited('1', '64Mi', 'mine'));
  const known = ['mine', 'a_b'] as PodUid[];
  const found = await pods.sweep(async (uid) => uid === 'engine', known, never);
  assert.deepEqual(
    new Set(found.map(({ path, processes }) => `${path} ${processes}`)),
    new Set(['/kubepods/burstable/podold 0', '/kubepods/pododd_name 0', '/kubepods/podbusy 1']),
  );
  assert.equal(
    fs.cgroups.has('/kubepods/podmine') && fs.cgroups.has('/kubepods/podbusy') && fs.cgroups.has('/kubepods/burstable/other'),
    true,
  );
});
