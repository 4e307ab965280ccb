import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PodUid } from '../../../src/model/pod.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { base64, filesShown, podWith, VolumeStage } from '../../fakes/volume-stage.ts';

const signal = AbortSignal.timeout(10_000);
const stage = VolumeStage.forTests();
const { uid, rootDir, objects, events, mounted, busy } = stage;
const dir = (plugin: string, name: string): string => stage.dir(plugin, name);

test('an emptyDir is for everybody, and stays as its pod made it; at the end nothing is left', async () => {
  const pod = podWith({ name: 'e', emptyDir: {} });
  await stage.volumes.prepare(pod, signal);
  const mode = async (): Promise<number> => (await lstat(dir('empty-dir', 'e'))).mode & 0o777;
  assert.equal(await mode(), 0o777);
  await chmod(dir('empty-dir', 'e'), 0o700);
  await stage.volumes.prepare(pod, signal);
  assert.equal(await mode(), 0o700);
  assert.deepEqual(await readdir(dir('empty-dir', '')), ['e']);
  await stage.volumes.remove(uid, signal);
  await stage.volumes.remove(uid, signal);
  assert.deepEqual(await readdir(join(rootDir, 'pods')), []);
});

test('a pod is prepared once it has all its volumes and none of them changes, for as long as it is declared so', async () => {
  const pod = podWith({ name: 'e', emptyDir: {} });
  assert.equal(stage.volumes.isPrepared(pod), false);
  await stage.volumes.prepare(pod, signal);
  assert.equal(stage.volumes.isPrepared(pod), true);
  assert.equal(stage.volumes.isPrepared(structuredClone(pod)), false);
  await stage.volumes.tearDown(uid, signal);
  assert.equal(stage.volumes.isPrepared(pod), false);

  const changing = podWith({ name: 'e', emptyDir: {} }, { name: 's', secret: { secretName: 'login' } });
  await assert.rejects(stage.volumes.prepare(changing, signal));
  assert.equal(stage.volumes.isPrepared(changing), false);
  objects.set('Secret default/login', { data: {} });
  await stage.volumes.prepare(changing, signal);
  assert.equal(stage.volumes.isPrepared(changing), false);
  await stage.volumes.remove(uid, signal);
  events.splice(0);
  stage.reported.splice(0);
  objects.clear();
});

test('how long a volume took is reported, once for what stays and with each look for what changes, and that it failed', async () => {
  const pod = podWith({ name: 'e', emptyDir: {} }, { name: 's', secret: { secretName: 'login' } });
  await assert.rejects(stage.volumes.prepare(pod, signal));
  assert.deepEqual(stage.reported, ['kubernetes.io/empty-dir made', 'kubernetes.io/secret failed']);
  objects.set('Secret default/login', { data: {} });
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(stage.reported.slice(2), ['kubernetes.io/secret made']);
});

test('volumes are counted by their kind from when the pod is to have them until they are gone, and their end is told', async () => {
  const counted = (): readonly string[] =>
    stage.volumes
      .metrics()
      .split('\n')
      .filter((line) => line.startsWith('volume_manager_total_volumes'))
      .map((line) => line.replace(/.*plugin_name="(.*?)",state="(.).*"\} (.*)/, '$1 $2 $3'));
  assert.equal(stage.volumes.metrics(), '');
  const csi = { name: 'c', csi: { driver: 'csi.example.com' } };
  const pod = podWith({ name: 'e', emptyDir: {} }, { name: 'f', emptyDir: {} }, csi);
  await assert.rejects(stage.volumes.prepare(pod, signal));
  const wanted = ['kubernetes.io/empty-dir d 2', 'kubernetes.io/csi:csi.example.com d 1'];
  assert.deepEqual(counted(), ['kubernetes.io/empty-dir a 2', ...wanted]);
  stage.reported.splice(0);
  stage.busy.add(join(stage.rootDir, 'pods', uid));
  await assert.rejects(stage.volumes.tearDown(uid, signal));
  // They are there, though nobody wants them.
  assert.deepEqual(counted(), ['kubernetes.io/empty-dir a 2']);
  stage.busy.clear();
  await stage.volumes.tearDown(uid, signal);
  await stage.volumes.remove(uid, signal);
  assert.equal(stage.volumes.metrics(), '');
  const ended = 'kubernetes.io/empty-dir volume_unmount';
  assert.deepEqual(stage.reported, [`${ended} failed`, `${ended} failed`, ended, ended]);
});

test('a pod that has ended wants no volumes, also where it never had them', async () => {
  await assert.rejects(stage.volumes.prepare(podWith({ name: 'c', csi: { driver: 'csi.example.com' } }), signal));
  assert.match(stage.volumes.metrics(), /csi\.example\.com/);
  await stage.volumes.tearDown(uid, signal);
  assert.equal(stage.volumes.metrics(), '');
});

test('a kind that is not supported holds the pod, unless no container mounts the volume', async () => {
  const rbd = { name: 'r', rbd: { image: 'i', monitors: ['m'] } };
  const why = 'volume "r" is of kind rbd, which this node does not support';
  const message = `Unable to attach or mount volumes: unmounted volumes=[r], unattached volumes=[e r]: ${why}`;
  await assert.rejects(stage.volumes.prepare(podWith({ name: 'e', emptyDir: {} }, rbd), signal), { message });
  assert.deepEqual(events, [`Warning FailedMount ${message}`]);
  await stage.volumes.prepare(aPod('web', { volumes: [rbd] }), signal);
});

test("a cloud's volume is its CSI driver's, and one that cannot be one holds the pod", async () => {
  const disk = { name: 'd', gcePersistentDisk: { pdName: 'disk' } };
  const message = 'MountVolume.SetUp failed for volume "pd.csi.storage.gke.io-disk" : this node has no CSI volumes';
  await assert.rejects(stage.volumes.prepare(podWith(disk), signal), { message });
  const wrong = { name: 'd', awsElasticBlockStore: { volumeID: 'aws://zone/disk' } };
  await assert.rejects(stage.volumes.prepare(podWith(wrong), signal), /unattached volumes=\[d\]: .*Invalid format for AWS volume/);
});

test('a fault that lasts is told less and less often, a new one at once', async () => {
  const pod = podWith({ name: 's', secret: { secretName: 'login' } });
  const toldWithin = async (ms: number): Promise<number> => {
    for (const endMs = stage.nowMs + ms; stage.nowMs < endMs; stage.nowMs += 100) await assert.rejects(stage.volumes.prepare(pod, signal));
    return events.splice(0).length;
  };
  assert.equal(await toldWithin(500), 1);
  assert.equal(await toldWithin(1_000), 1);
  assert.equal(await toldWithin(2_000), 1);
  objects.set('Secret default/login', { data: {} });
  await stage.volumes.prepare(pod, signal);
  await stage.volumes.remove(uid, signal);
  objects.clear();
  assert.equal(await toldWithin(500), 1);
});

test('a fault whose words differ each time is tried again as rarely as one whose words stay', async () => {
  const waits: (number | undefined)[] = [];
  const pod = podWith({ name: 's', secret: { secretName: 'login', items: [{ key: 'k', path: 'p' }] } });
  objects.set('Secret default/login', { data: { k: '' } });
  await stage.volumes.prepare(pod, signal);
  for (let i = 0; i < 5; i++) {
    const changing = podWith({ name: 's', secret: { secretName: 'login', items: [{ key: `k${i}`, path: 'p' }] } });
    const outOfDate = await stage.volumes.prepare(changing, signal);
    waits.push(outOfDate?.retryInMs);
    stage.nowMs += outOfDate?.retryInMs ?? 0;
  }
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 8_000]);
  assert.equal(events.length, 5);
});

test('an emptyDir in memory is mounted, and unmounted before anything of it is deleted', async () => {
  const pod = podWith({ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } });
  await stage.volumes.prepare(pod, signal);
  const directory = dir('empty-dir', 'm');
  assert.deepEqual([...mounted], [[directory, { sizeBytes: 64n * 1024n * 1024n, fsGroup: undefined }]]);
  busy.add(join(rootDir, 'pods', uid));
  await assert.rejects(stage.volumes.remove(uid, signal), { message: 'target is busy' });
  assert.deepEqual(await readdir(dir('empty-dir', '')), ['m']);
  busy.clear();
  await stage.volumes.remove(uid, signal);
  assert.equal(mounted.size, 0);
  assert.deepEqual(await readdir(join(rootDir, 'pods')), []);
});

test('a volume that does not change is made once', async () => {
  const pod = podWith({ name: 'h', hostPath: { path: join(rootDir, 'made'), type: 'DirectoryOrCreate' } });
  await stage.volumes.prepare(pod, signal);
  await rm(join(rootDir, 'made'), { recursive: true });
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await readdir(rootDir), []);
});

test('an emptyDir of huge pages is mounted with the pages that the pod asks for, and the group may write there', async () => {
  const volumes = [{ name: 'h', emptyDir: { medium: 'HugePages' } }];
  const requests = { 'hugepages-2Mi': '4Mi' };
  const containers = [aContainer('app', { resources: { requests, limits: requests }, volumeMounts: [{ name: 'h', mountPath: '/h' }] })];
  await stage.volumes.prepare(aPod('web', { volumes, containers, securityContext: { fsGroup: process.getgid?.() ?? 0 } }), signal);
  const directory = dir('empty-dir', 'h');
  assert.deepEqual([...mounted], [[directory, { pageBytes: 2_097_152n }]]);
  assert.equal((await stat(directory)).mode & 0o2770, 0o2770);
});

test('each medium of an emptyDir that cannot be had is refused by its name', async () => {
  for (const [medium, why] of [
    ['HugePages', 'medium HugePages: hugePages storage requested, but there is no resource request for huge pages'],
    ['HugePages-2Mi', 'medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages'],
    ['Tape', 'unknown storage medium "Tape"'],
  ] as const) {
    const message = `MountVolume.SetUp failed for volume "e" : ${why}`;
    await assert.rejects(stage.volumes.prepare(podWith({ name: 'e', emptyDir: { medium } }), signal), { message });
  }
});

test('the group of the pod owns what its volumes hold', async () => {
  objects.set('ConfigMap default/settings', { data: { level: 'debug' } });
  const list = [
    { name: 'e', emptyDir: {} },
    { name: 'c', configMap: { name: 'settings', defaultMode: 0o400 } },
  ];
  const mountAll = list.map(({ name }) => ({ name, mountPath: `/${name}` }));
  const containers = [aContainer('app', { volumeMounts: mountAll })];
  await stage.volumes.prepare(aPod('web', { volumes: list, containers, securityContext: { fsGroup: 1234 } }), signal);
  const found = async (path: string): Promise<readonly number[]> => {
    const { gid, mode } = await stat(path);
    return [gid, mode & 0o7777];
  };
  assert.deepEqual(await found(dir('empty-dir', 'e')), [1234, 0o2777]);
  assert.deepEqual(await found(join(dir('configmap', 'c'), 'level')), [1234, 0o440]);
});

test('a pod that waits for its volumes is told so as often as the kubelet tells it', async () => {
  objects.set('ConfigMap default/settings', { data: {} });
  const pod = podWith({ name: 's', secret: { secretName: 'login' } }, { name: 'c', configMap: { name: 'settings' } });
  const told = (): number => events.splice(0).filter((event) => event.endsWith('timed out waiting for the condition')).length;
  const untilMs = async (endMs: number): Promise<void> => {
    for (; stage.nowMs <= endMs; stage.nowMs += 1_000) await assert.rejects(stage.volumes.prepare(pod, signal));
  };
  await untilMs(122_000);
  assert.equal(told(), 0);
  await untilMs(123_000);
  assert.deepEqual(
    events.filter((event) => event.includes('Unable')),
    [
      'Warning FailedMount Unable to attach or mount volumes: unmounted volumes=[s], unattached volumes=[s c]: timed out waiting for the condition',
    ],
  );
  events.length = 0;
  await untilMs(245_000);
  assert.equal(told(), 0);
  await untilMs(246_000);
  assert.equal(told(), 1);
});

test('volumes go when the pod has ended, its directory stays until it is forgotten', async () => {
  const pod = podWith({ name: 'm', emptyDir: { medium: 'Memory' } });
  await stage.volumes.prepare(pod, signal);
  await writeFile(join(rootDir, 'pods', uid, 'etc-hosts'), '');
  assert.equal(await stage.volumes.remain(uid), true);
  await stage.volumes.tearDown(uid, signal);
  await stage.volumes.tearDown(uid, signal);
  assert.deepEqual([mounted.size, await stage.volumes.remain(uid), await readdir(join(rootDir, 'pods', uid))], [0, false, ['etc-hosts']]);
});

test('what pods left that are known no more is swept; one in use is left alone until it is not', async () => {
  for (const each of ['known', 'gone', 'busy']) await mkdir(join(rootDir, 'pods', each, 'volumes'), { recursive: true });
  await writeFile(join(rootDir, 'pods', 'a-file'), '');
  busy.add(join(rootDir, 'pods', 'busy'));
  const isKnown = async (each: PodUid): Promise<boolean> => each === 'known';
  const first = await stage.volumes.sweep(isKnown, signal);
  assert.deepEqual([first.removed, [...first.failed.keys()]], [['gone'], ['busy']]);
  busy.clear();
  assert.deepEqual((await stage.volumes.sweep(isKnown, signal)).removed, ['busy']);
  assert.deepEqual((await readdir(join(rootDir, 'pods'))).sort(), ['a-file', 'known']);
});

test('what of a pod takes long to remove does not hold up what others left', async () => {
  const uids = Array.from({ length: 20 }, (_, i) => `pod-${`${i}`.padStart(2, '0')}`);
  for (const each of uids) await mkdir(join(rootDir, 'pods', each, 'volumes'), { recursive: true });
  let release = (): void => {};
  const slow = join(rootDir, 'pods', 'pod-00');
  stage.lasting.set(slow, new Promise((resolve) => (release = resolve)));
  const sweeping = stage.volumes.sweep(async () => false, signal);
  while ((await readdir(join(rootDir, 'pods'))).length > 1) signal.throwIfAborted();
  assert.deepEqual(await readdir(join(rootDir, 'pods')), ['pod-00']);
  release();
  assert.deepEqual((await sweeping).removed.toSorted(), uids);
});

test('a sweep ends with its signal, and rejects', async () => {
  await mkdir(join(rootDir, 'pods', 'gone', 'volumes'), { recursive: true });
  const stop = new AbortController();
  const isKnown = async (): Promise<boolean> => {
    stop.abort(new Error('stopped'));
    return false;
  };
  await assert.rejects(stage.volumes.sweep(isKnown, stop.signal), { message: 'stopped' });
  assert.deepEqual(await readdir(join(rootDir, 'pods')), ['gone']);
});

test('a volume that cannot be brought up to date stays as it was, and says why and when to try again', async () => {
  const pod = podWith({ name: 's', secret: { secretName: 'login' } }, { name: 'c', configMap: { name: 'settings' } });
  objects.set('Secret default/login', { data: { key: base64('x') } });
  objects.set('ConfigMap default/settings', { data: {} });
  assert.equal(await stage.volumes.prepare(pod, signal), undefined);
  objects.delete('Secret default/login');
  const message = 'MountVolume.SetUp failed for volume "s" : secret "login" not found';
  assert.deepEqual(await stage.volumes.prepare(pod, signal), { message, retryInMs: 500 });
  stage.nowMs = 100;
  assert.deepEqual(await stage.volumes.prepare(pod, signal), { message, retryInMs: 400 });
  stage.nowMs = 500;
  assert.deepEqual(await stage.volumes.prepare(pod, signal), { message, retryInMs: 1_000 });
  assert.deepEqual(
    events,
    Array.from({ length: 2 }, () => `Warning FailedMount ${message}`),
  );
  assert.deepEqual(await filesShown(dir('secret', 's')), { key: 'x' });
  objects.set('Secret default/login', { data: { key: base64('y') } });
  assert.equal(await stage.volumes.prepare(pod, signal), undefined);
  assert.deepEqual(await filesShown(dir('secret', 's')), { key: 'y' });
});
