import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { EMPTY, filter, startWith, Subject } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { firstOf } from '../../src/base/first-of.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { mountsNow } from '../../src/base/mount-info.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { ClaimReader, PersistentVolume } from '../../src/ports/claim-reader.ts';
import type { ApiRequest } from '../../src/ports/kube-api.ts';
import { Attachments } from '../../src/volumes/attachments.ts';
import { type DisksWhenNeeded, disksWhenNeeded } from '../../src/volumes/disks/disks-when-needed.ts';
import { type MachineRoots, realRoots } from '../../src/volumes/disks/machine-roots.ts';
import { openDisks } from '../../src/volumes/disks/open-disks.ts';
import { flexDrivers } from '../../src/volumes/flex-drivers.ts';
import { systemMounts } from '../../src/volumes/mounts.ts';
import type { PodVolumes } from '../../src/volumes/pod-volumes.ts';
import { VolumeGrowth } from '../../src/volumes/volume-growth.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import { podVolumesOn } from '../builders/pod-volumes-on.ts';

const run = promisify(execFile);
const mounts = systemMounts({ clock: systemClock });
const signal = AbortSignal.timeout(120_000);
/** By claim, which the persistent volume is called as. */
const persistent = new Map<string, PersistentVolume['spec']>();
const loops: string[] = [];
const operated = new Subject<void>();
/** What claims ask for. */
let wanted = '8Mi';
/** Devices that resize2fs was called for: the kernel does not let it do so in each container. */
const grown = new Set<string>();
const roots: MachineRoots = {
  ...realRoots,
  run: async (program, argv, how) => {
    if (program !== 'resize2fs') return realRoots.run(program, argv, how);
    for (const each of argv) grown.add(each);
    return { is: 'exited', code: 0, stdout: '', stderr: '' };
  },
};
/** Paths of what the API server was told. */
const told = new Subject<string>();
const claims: ClaimReader = {
  claim: async (namespace, name) => ({
    metadata: { name, namespace, uid: name },
    spec: { volumeName: name, resources: { requests: { storage: wanted } } },
    status: { phase: 'Bound', capacity: { storage: '8Mi' } },
  }),
  volume: async (name) => ({
    metadata: { name },
    spec: { claimRef: { uid: name }, capacity: { storage: wanted }, ...persistent.get(name) },
  }),
};
let root: string;
let rootDir: string;
let stop = new AbortController();
let attachments: Attachments;
let opened: number;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-local-'));
  rootDir = join(root, 'kubelet');
  await mkdir(rootDir);
  opened = 0;
  wanted = '8Mi';
});
afterEach(async () => {
  stop.abort();
  persistent.clear();
  await mounts.unmountBelow(root);
  for (const loop of loops.splice(0)) await run('losetup', ['--detach', loop]).catch(() => {});
  await rm(root, { recursive: true });
});

/** A device of the machine, with nothing on it. */
async function device(name: string): Promise<string> {
  const file = join(root, name);
  await writeFile(file, Buffer.alloc(8 << 20));
  const loop = (await run('losetup', ['--find', '--show', file])).stdout.trim();
  loops.push(loop);
  return loop;
}

/** As another agent process would have them, in a cluster whose controller attaches volumes, but says nothing ever. */
async function agent(): Promise<PodVolumes> {
  stop.abort();
  stop = new AbortController();
  const cluster = { exists: true, node: () => undefined, nodeChanges: EMPTY };
  attachments = new Attachments({ cluster, byController: true, clock: systemClock });
  const flex = flexDrivers('/nowhere', systemClock);
  const tell = { storageOperated: () => operated.next() };
  const of = { rootDir, nodeName: 'n1', flex, roots, mounts, attachments, clock: systemClock, log: silentLogger, tell };
  const disks: DisksWhenNeeded = disksWhenNeeded(rootDir, async () => {
    opened++;
    return openDisks(of);
  });
  await disks.find();
  void disks.run(stop.signal);
  const growth = new VolumeGrowth({
    claims,
    api: {
      request: async <T>({ path }: ApiRequest): Promise<T> => {
        told.next(path);
        return {} as T;
      },
    },
    events: { record: () => {} },
    clock: { sleep: (_, until) => systemClock.sleep(1, until) },
    random: () => 0,
    log: silentLogger,
  });
  void growth.run(stop.signal);
  return podVolumesOn({ rootDir, mounts, disks, growth, flex }, { claims });
}

const app = aContainer('app', { volumeMounts: [{ name: 'v', mountPath: '/v' }] });
const appOfDevice = aContainer('app', { volumeDevices: [{ name: 'v', devicePath: '/dev/xvda' }] });
const claim = (claimName: string, readOnly = false): NonNullable<Pod['spec']['volumes']> => [
  { name: 'v', persistentVolumeClaim: { claimName, readOnly } },
];
const podOf = (name: string, volume: string, fsGroup?: number): Pod =>
  aPod(name, { volumes: claim(volume), containers: [app], ...(fsGroup !== undefined && { securityContext: { fsGroup } }) });
const own = ({ metadata }: Pod, volume: string): string =>
  join(rootDir, 'pods', metadata.uid, 'volumes/kubernetes.io~local-volume', volume);
const global = (volume: string): string => join(rootDir, 'plugins/kubernetes.io/local-volume/mounts', volume);
const devices = (volume: string): string => join(rootDir, 'plugins/kubernetes.io~local-volume/volumeDevices', volume);
const links = ({ metadata }: Pod): string => join(rootDir, 'pods', metadata.uid, 'volumeDevices/kubernetes.io~local-volume');
const sourcesAt = (path: string): readonly string[] =>
  mountsNow()
    .filter((each) => each.path === path)
    .map(({ source }) => source);
const gone = (path: string): Promise<void> =>
  firstOf(
    operated.pipe(
      startWith(undefined),
      filter(() => !existsSync(path)),
    ),
    signal,
  );
const groupOf = async (path: string): Promise<number> => (await stat(path)).gid;

test('a local block device is formatted, mounted once for two pods, found again by the next agent, and stays on the machine', async () => {
  const loop = await device('disk');
  await symlink(loop, join(root, 'link'));
  persistent.set('pv', { local: { path: join(root, 'link') } });
  const [a, b] = [podOf('a', 'pv', 4321), podOf('b', 'pv', 99)];
  let volumes = await agent();
  assert.equal(opened, 0);
  await volumes.prepare(a, signal);
  await writeFile(join(own(a, 'pv'), 'data'), 'x');
  await volumes.prepare(b, signal);
  assert.deepEqual([sourcesAt(global('pv')), sourcesAt(own(a, 'pv')), sourcesAt(own(b, 'pv'))], [[loop], [loop], [loop]]);
  assert.deepEqual([await readFile(join(own(b, 'pv'), 'data'), 'utf8'), await groupOf(own(b, 'pv'))], ['x', 4321]);
  assert.deepEqual(attachments.inUse(), []);
  volumes = await agent();
  await volumes.prepare(a, signal);
  assert.deepEqual([sourcesAt(global('pv')), sourcesAt(own(a, 'pv'))], [[loop], [loop]]);
  await volumes.remove(a.metadata.uid, signal);
  assert.equal(existsSync(join(global('pv'), 'data')), true, 'the other pod has it');
  volumes = await agent();
  await volumes.remove(b.metadata.uid, signal);
  await gone(global('pv'));
  assert.equal((await run('blkid', ['-p', '-s', 'TYPE', '-o', 'value', loop])).stdout, 'ext4\n');
  // The one that comes after has what was written, and its own group.
  await volumes.prepare(b, signal);
  assert.deepEqual([await readFile(join(own(b, 'pv'), 'data'), 'utf8'), await groupOf(own(b, 'pv'))], ['x', 99]);
  await volumes.remove(b.metadata.uid, signal);
  await gone(global('pv'));
  opened = 0;
  await agent();
  assert.deepEqual([opened, await readdir(join(rootDir, 'pods'))], [0, []]);
});

test('two volumes of one device are one file system, also when both come at once, and each goes by itself', async () => {
  const loop = await device('disk');
  for (const name of ['pv1', 'pv2']) persistent.set(name, { local: { path: loop, fsType: 'ext4' } });
  const [a, b] = [podOf('a', 'pv1'), podOf('b', 'pv2')];
  const volumes = await agent();
  await Promise.all([volumes.prepare(a, signal), volumes.prepare(b, signal)]);
  await writeFile(join(own(a, 'pv1'), 'data'), 'x');
  assert.equal(await readFile(join(own(b, 'pv2'), 'data'), 'utf8'), 'x');
  await volumes.remove(a.metadata.uid, signal);
  await gone(global('pv1'));
  assert.deepEqual(sourcesAt(global('pv2')), [loop]);
  await volumes.remove(b.metadata.uid, signal);
  await gone(global('pv2'));
});

test('pods have a local block device itself, some only to read, and it stays on the machine', async () => {
  const loop = await device('disk');
  persistent.set('pv', { local: { path: loop }, volumeMode: 'Block' });
  const a = aPod('a', { volumes: claim('pv'), containers: [appOfDevice] });
  const b = aPod('b', { volumes: claim('pv', true), containers: [appOfDevice] });
  let volumes = await agent();
  for (const pod of [a, b]) await volumes.prepare(pod, signal);
  for (const [pod, permissions] of [
    [a, 'rwm'],
    [b, 'r'],
  ] as const) {
    const hostPath = join(devices('pv'), pod.metadata.uid);
    assert.deepEqual(volumes.devicesFor(pod, appOfDevice), [{ hostPath, containerPath: '/dev/xvda', permissions }]);
    assert.equal((await stat(hostPath)).rdev, (await stat(loop)).rdev);
    assert.deepEqual(await readdir(links(pod)), ['pv']);
  }
  assert.deepEqual(attachments.inUse(), []);
  await volumes.remove(a.metadata.uid, signal);
  volumes = await agent();
  await volumes.prepare(b, signal);
  assert.deepEqual(await readdir(devices('pv')), [b.metadata.uid]);
  await volumes.remove(b.metadata.uid, signal);
  await gone(devices('pv'));
  assert.match((await run('losetup', [loop])).stdout, /disk/);
});

test('what is neither, or no device where one is asked for, is refused in plain words', async () => {
  const volumes = await agent();
  await writeFile(join(root, 'file'), '');
  const pod = aPod('a', { volumes: claim('pv'), containers: [appOfDevice] });
  for (const path of [root, join(root, 'file')]) {
    persistent.set('pv', { local: { path }, volumeMode: 'Block' });
    await assert.rejects(volumes.prepare(pod, signal), {
      message: `MapVolume.MapPodDevice failed for volume "pv" : local volume ${path} is not a block device, which its volumeMode Block asks for`,
    });
  }
  for (const path of [join(root, 'file'), '/dev/null']) {
    persistent.set('pv', { local: { path } });
    const message = `MountVolume.SetUp failed for volume "pv" : local volume ${path}: only directory and block device are supported`;
    await assert.rejects(volumes.prepare(podOf('a', 'pv'), signal), { message });
  }
  assert.equal(opened, 0);
});

test('a local block device that is gone keeps no pod, and is let go of', async () => {
  const loop = await device('disk');
  await symlink(loop, join(root, 'link'));
  persistent.set('pv', { local: { path: join(root, 'link') } });
  const [a, b] = [podOf('a', 'pv'), podOf('b', 'pv')];
  const volumes = await agent();
  await volumes.prepare(a, signal);
  await rm(join(root, 'link'));
  // The kernel waits for the file system to go.
  await run('losetup', ['--detach', loop]);
  await assert.rejects(volumes.prepare(b, signal), /ENOENT/);
  for (const { metadata } of [a, b]) await volumes.remove(metadata.uid, signal);
  await gone(global('pv'));
  assert.equal((await run('losetup', ['--noheadings', '--associated', join(root, 'disk')])).stdout, '');
});

test('where the path leads elsewhere by now, who has the device keeps it, and nobody else gets what is no longer meant', async () => {
  const [first, second] = [await device('first'), await device('second')];
  const link = join(root, 'link');
  const leadsTo = async (target: string): Promise<void> => {
    await rm(link, { force: true });
    await symlink(target, link);
  };
  await leadsTo(first);
  persistent.set('pv', { local: { path: link } });
  const [a, b, c] = [podOf('a', 'pv'), podOf('b', 'pv'), podOf('c', 'pv')];
  let volumes = await agent();
  await volumes.prepare(a, signal);
  await leadsTo(second);
  await assert.rejects(volumes.prepare(b, signal), {
    message: `MountVolume.MountDevice failed for volume "pv" : ${first} is still mounted for this volume, which is ${second} by now`,
  });
  volumes = await agent();
  await volumes.prepare(a, signal);
  assert.deepEqual(sourcesAt(own(a, 'pv')), [first]);
  const directory = join(root, 'directory');
  await mkdir(directory);
  await writeFile(join(directory, 'data'), 'of the directory');
  await leadsTo(directory);
  await volumes.prepare(c, signal);
  assert.equal(await readFile(join(own(c, 'pv'), 'data'), 'utf8'), 'of the directory');
  volumes = await agent();
  await volumes.prepare(a, signal);
  assert.deepEqual(sourcesAt(own(a, 'pv')), [first]);
  await volumes.remove(a.metadata.uid, signal);
  await gone(global('pv'));
  await leadsTo(second);
  await volumes.prepare(b, signal);
  assert.deepEqual(sourcesAt(own(b, 'pv')), [second]);
  for (const { metadata } of [b, c]) await volumes.remove(metadata.uid, signal);
  await gone(global('pv'));
  assert.deepEqual(await readdir(directory), ['data']);
});

test('a claim that has grown gets the file system of a device grown while pods have it, and is told of; of directories it is told alone', async () => {
  const loop = await device('disk');
  persistent.set('pv', { local: { path: loop } });
  persistent.set('directory', { local: { path: root } });
  const [a, b] = [podOf('a', 'pv'), podOf('b', 'directory')];
  const volumes = await agent();
  for (const pod of [a, b]) await volumes.prepare(pod, signal);
  const paths = ['pv', 'directory'].map((name) => `/api/v1/namespaces/default/persistentvolumeclaims/${name}/status`);
  const whole = Promise.all(paths.map((path) => firstOf(told.pipe(filter((each) => each === path)), signal)));
  wanted = '64Mi';
  await whole;
  assert.ok(grown.size === 1 && grown.has(loop));
  for (const { metadata } of [a, b]) await volumes.remove(metadata.uid, signal);
  await gone(global('pv'));
});
