import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import type { Touch } from '../../src/base/touch.ts';
import type { HostFiles } from '../../src/ports/host-files.ts';
import type { PersistentVolume } from '../../src/ports/claim-reader.ts';
import { systemClock } from '../../src/base/clock.ts';
import { directHostFiles } from '../fakes/direct-host-files.ts';
import { systemMounts } from '../../src/volumes/mounts.ts';
import { mountTable } from '../../src/volumes/mount-table.ts';
import type { PodVolumes } from '../../src/volumes/pod-volumes.ts';
import { removeTree } from '../../src/volumes/remove-tree.ts';
import { aContainer, aPod } from '../builders/a-pod.ts';
import { podVolumesOn } from '../builders/pod-volumes-on.ts';

const run = promisify(execFile);
const mounts = systemMounts({ clock: systemClock });
const signal = AbortSignal.timeout(120_000);
const uid = 'uid-web' as PodUid;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
let root: string;
let rootDir: string;
let persistent: PersistentVolume['spec'];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-disk-'));
  rootDir = join(root, 'kubelet');
  await mkdir(rootDir);
  persistent = {};
});
afterEach(async () => {
  await mounts.unmountBelow(root);
  await rm(root, { recursive: true });
});

const mounted = async (): Promise<string[]> => (await mountTable()).map(({ path }) => path).filter((path) => path.startsWith(`${root}/`));

/** As another agent process would have them. */
const newVolumes = (
  dataOf = (): Record<string, string> => ({ key: base64('value') }),
  hostFiles: HostFiles = directHostFiles,
): PodVolumes =>
  podVolumesOn(
    { rootDir, mounts, hostFiles, clock: { now: () => Date.UTC(2026, 0), monotonicMs: () => 0 } },
    {
      objects: { get: async ({ name }) => ({ metadata: { name, uid: '1', resourceVersion: '1' }, data: dataOf() }) },
      claims: {
        claim: async () => ({ metadata: { uid: 'c' }, spec: { volumeName: 'pv' }, status: { phase: 'Bound' } }),
        volume: async () => ({ metadata: { name: 'pv' }, spec: { claimRef: { uid: 'c' }, ...persistent } }),
      },
    },
  );

type Volume = NonNullable<Pod['spec']['volumes']>[number];
function podWith(list: readonly Volume[], over: Partial<Pod['spec']> = {}, name = 'web'): Pod {
  const volumeMounts = list.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  return aPod(name, { volumes: list, containers: [aContainer('app', { volumeMounts })], ...over });
}
const dir = (plugin: string, name: string): string => join(rootDir, 'pods', uid, 'volumes', `kubernetes.io~${plugin}`, name);

test('what is in memory is mounted once, found again by the next process, and unmounted at the end', async () => {
  const pod = podWith(
    [
      { name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 's', secret: { secretName: 's' } },
      { name: 'd', emptyDir: {} },
    ],
    { securityContext: { fsGroup: 4321 } },
  );
  await newVolumes().prepare(pod, signal);
  const memory = [dir('empty-dir', 'm'), dir('secret', 's')];
  assert.deepEqual(await mounted(), memory);
  await writeFile(join(dir('empty-dir', 'm'), 'kept'), 'x');
  assert.equal((await run('stat', ['-c', '%g %a', dir('empty-dir', 'm')])).stdout, '4321 3777\n');
  await assert.rejects(writeFile(join(dir('empty-dir', 'm'), 'big'), Buffer.alloc(2 ** 21)), { code: 'ENOSPC' });
  const next = newVolumes();
  await next.prepare(pod, signal);
  assert.deepEqual(await mounted(), memory);
  assert.equal(await readFile(join(dir('empty-dir', 'm'), 'kept'), 'utf8'), 'x');
  assert.equal(await readFile(join(dir('secret', 's'), 'key'), 'utf8'), 'value');
  await next.remove(uid, signal);
  assert.deepEqual([await mounted(), await readdir(join(rootDir, 'pods'))], [[], []]);
});

test('a local volume is shown to each pod, and its data outlives them', async () => {
  const data = join(root, 'data');
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, 'precious'), 'x', { mode: 0o600 });
  persistent = { local: { path: data } };
  const volumes = newVolumes();
  const pod = podWith([{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }], { securityContext: { fsGroup: 4321 } });
  const other = podWith([{ name: 'v', persistentVolumeClaim: { claimName: 'c', readOnly: true } }], {}, 'other');
  await volumes.prepare(pod, signal);
  await volumes.prepare(other, signal);
  assert.equal((await run('stat', ['-c', '%g %a', data, join(data, 'precious')])).stdout, '4321 2770\n4321 660\n');
  const read = join(rootDir, 'pods', other.metadata.uid, 'volumes/kubernetes.io~local-volume/pv');
  assert.equal(await readFile(join(read, 'precious'), 'utf8'), 'x');
  await assert.rejects(writeFile(join(read, 'precious'), 'y'), { code: 'EROFS' });
  const late = podWith([{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }], { securityContext: { fsGroup: 99 } }, 'late');
  await volumes.prepare(late, signal);
  assert.equal((await run('stat', ['-c', '%g', data])).stdout, '4321\n');
  for (const each of [pod, other, late]) await volumes.remove(each.metadata.uid, signal);
  assert.deepEqual([await mounted(), await readdir(data)], [[], ['precious']]);
});

test('a local volume whose giving to a group was interrupted is given whole before a pod has it', async () => {
  const data = join(root, 'data');
  await mkdir(join(data, 'below'), { recursive: true });
  for (let i = 0; i < 10; i++) await writeFile(join(data, 'below', `${i}`), '', { mode: 0o600 });
  persistent = { local: { path: data } };
  const pod = podWith([{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }], { securityContext: { fsGroup: 4321 } });
  let calls = 0;
  const tiring: Touch = (_, call) =>
    call(() => {
      if (++calls > 5) throw new Error('the file system does not answer');
    });
  const interrupted = newVolumes(undefined, { ...directHostFiles, run: (task, args) => task.run(args, tiring) });
  await assert.rejects(interrupted.prepare(pod, signal), { message: /the file system does not answer/ });
  await newVolumes().prepare(pod, signal);
  const { stdout } = await run('find', [data, '-printf', '%G\n']);
  assert.deepEqual(new Set(stdout.trim().split('\n')), new Set(['4321']));
  await newVolumes().remove(uid, signal);
});

test('a local volume that many pods want at once is given to their group once', async () => {
  const data = join(root, 'data');
  await mkdir(data);
  await writeFile(join(data, 'file'), '');
  persistent = { local: { path: data } };
  const asked: string[] = [];
  const volumes = newVolumes(undefined, {
    ...directHostFiles,
    run: (task, args) => {
      asked.push(task.name);
      return directHostFiles.run(task, args, signal);
    },
  });
  const pods = Array.from({ length: 20 }, (_, at) =>
    podWith([{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }], { securityContext: { fsGroup: 4321 } }, `pod-${at}`),
  );
  await Promise.all(pods.map((pod) => volumes.prepare(pod, signal)));
  assert.equal((await mounted()).length, 20);
  assert.equal(asked.filter((name) => name === 'giveToGroup').length, 1);
  for (const { metadata } of pods) await volumes.remove(metadata.uid, signal);
});

test('nothing is removed through a mount, be it of the same file system', async () => {
  const [data, tree] = [join(root, 'data'), join(root, 'tree')];
  for (const path of [data, join(tree, 'a/b'), join(tree, 'z')]) await mkdir(path, { recursive: true });
  await writeFile(join(data, 'precious'), 'x');
  await run('mount', ['--bind', data, join(tree, 'a/b')]);
  await assert.rejects(removeTree(tree), { message: `something is mounted at ${join(tree, 'a/b')}: nothing is removed through it` });
  assert.deepEqual(await readdir(data), ['precious']);
  await symlink(data, join(tree, 'link'));
  await run('umount', [join(tree, 'a/b')]);
  await removeTree(tree);
  await removeTree(tree);
  assert.deepEqual([(await readdir(root)).sort(), await readdir(data)], [['data', 'kubelet'], ['precious']]);
});

test('a volume in use is not removed, and is once it is free; what is mounted in it goes with it', async () => {
  const data = join(root, 'data');
  await mkdir(data);
  await writeFile(join(data, 'precious'), 'x');
  const pod = podWith([{ name: 'm', emptyDir: { medium: 'Memory' } }]);
  const volumes = newVolumes();
  await volumes.prepare(pod, signal);
  const volume = dir('empty-dir', 'm');
  // A pod that mounts something itself, as one with mount propagation may.
  await mkdir(join(volume, 'inner'));
  await run('mount', ['--bind', data, join(volume, 'inner')]);
  const user = execFile('sleep', ['600'], { cwd: volume });
  try {
    await assert.rejects(volumes.remove(uid, signal), /unmount failed.*busy/);
    assert.deepEqual(await mounted(), [volume]);
    assert.equal(await volumes.remain(uid), true);
    const swept = await volumes.sweep(async () => false, signal);
    assert.deepEqual([swept.removed, [...swept.failed.keys()]], [[], [uid]]);
  } finally {
    user.kill('SIGKILL');
    await new Promise((resolve) => user.once('exit', resolve));
  }
  assert.deepEqual((await volumes.sweep(async () => false, signal)).removed, [uid]);
  assert.deepEqual([await mounted(), await readdir(join(rootDir, 'pods')), await readdir(data)], [[], [], ['precious']]);
});

test('a subPath never shows what lies outside, however often a link takes its place meanwhile', async () => {
  const outside = join(root, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'x');
  const container = aContainer('app', { volumeMounts: [{ name: 'e', mountPath: '/e', subPath: 'a/b' }] });
  const pod = aPod('web', { volumes: [{ name: 'e', emptyDir: {} }], containers: [container] });
  const volumes = newVolumes();
  await volumes.prepare(pod, signal);
  const volume = dir('empty-dir', 'e');
  const stop = new AbortController();
  let swaps = 0;
  const at = (name: string): string => join(volume, name);
  const arrange = async (): Promise<void> => {
    for (const name of ['a', 'real', 'evil']) await rm(at(name), { recursive: true, force: true });
    await mkdir(at('real/b'), { recursive: true });
    await symlink(outside, at('evil'));
    await rename(at('real'), at('a'));
  };
  /** A container of the pod: now a directory has the name, now a link that leads out. */
  const attack = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        await rename(at('a'), at('real'));
        await rename(at('evil'), at('a'));
        await rename(at('a'), at('evil'));
        await rename(at('real'), at('a'));
        swaps++;
      } catch {
        // A directory was made in between, where there was nothing.
        await arrange().catch(() => {});
      }
    }
  };
  await arrange();
  const attacking = attack();
  let [shown, refused] = [0, 0];
  for (let i = 0; i < 150; i++) {
    try {
      const [mount] = await volumes.mountsFor(pod, container, new Map(), signal);
      const names = await readdir(mount?.hostPath ?? '');
      assert.ok(!names.includes('secret'));
      shown++;
    } catch (error) {
      assert.match(String(error), /failed to prepare subPath/);
      refused++;
    }
  }
  stop.abort();
  await attacking;
  assert.ok(swaps > 100 && shown > 0 && refused > 0, `${swaps} swaps, ${shown} shown, ${refused} refused`);
  assert.deepEqual(await readdir(outside), ['secret']);
  await volumes.remove(uid, signal);
  assert.deepEqual(await mounted(), []);
});

test('what a pod mounts in a shared volume is seen by its peers', async () => {
  const container = aContainer('app', { volumeMounts: [{ name: 'e', mountPath: '/e', mountPropagation: 'Bidirectional' }] });
  const pod = aPod('web', { volumes: [{ name: 'e', emptyDir: {} }], containers: [container] });
  const volumes = newVolumes();
  await volumes.prepare(pod, signal);
  await volumes.mountsFor(pod, container, new Map(), signal);
  await volumes.mountsFor(pod, container, new Map(), signal);
  const volume = dir('empty-dir', 'e');
  assert.deepEqual(
    (await mountTable()).filter(({ path }) => path === volume).map(({ shared }) => shared),
    [true],
  );
  await volumes.remove(uid, signal);
  assert.deepEqual(await mounted(), []);
});

test('a volume of any medium has the mode that a kubelet gives it: in memory users may only remove what is theirs', async () => {
  const list = [
    { name: 'm', emptyDir: { medium: 'Memory' } },
    { name: 'd', emptyDir: {} },
    { name: 's', secret: { secretName: 's' } },
    { name: 'c', configMap: { name: 'c' } },
    { name: 'w', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { name: 'p', projected: { sources: [{ secret: { name: 's' } }] } },
  ];
  const paths = ['empty-dir/m', 'empty-dir/d', 'secret/s', 'configmap/c', 'downward-api/w', 'projected/p'];
  const modes = async (): Promise<string> =>
    (await run('stat', ['-c', '%g %a', ...paths.map((path) => dir(...(path.split('/') as [string, string])))])).stdout;
  const volumes = newVolumes();
  await volumes.prepare(podWith(list), signal);
  assert.equal(await modes(), '0 1777\n0 777\n0 1777\n0 777\n0 1777\n0 1777\n');
  await volumes.remove(uid, signal);
  await volumes.prepare(podWith(list, { securityContext: { fsGroup: 4321 } }), signal);
  assert.equal(await modes(), '4321 3777\n4321 2777\n4321 3777\n4321 2777\n4321 3777\n4321 3777\n');
  await volumes.remove(uid, signal);
});

test('the group of the pod owns all of what is made of API data, links too, also after a change', async () => {
  let text = 'before';
  const volumes = newVolumes(() => ({ 'a-key': base64(text), [`key-${text}`]: base64('x') }));
  const list = [
    { name: 's', secret: { secretName: 's' } },
    { name: 'c', configMap: { name: 'c' } },
    { name: 'p', projected: { sources: [{ secret: { name: 's', items: [{ key: 'a-key', path: 'below/a-key' }] } }] } },
    { name: 'w', downwardAPI: { items: [{ path: 'below/labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  ];
  const found = async (type: string): Promise<ReadonlySet<string>> => {
    const tops = ['secret/s', 'configmap/c', 'projected/p', 'downward-api/w'].map((path) => dir(...(path.split('/') as [string, string])));
    const { stdout } = await run('find', [...tops, '-type', type, '-printf', '%U:%G %f\n']);
    return new Set(stdout.trim().split('\n'));
  };
  const owners = async (type: string): Promise<readonly string[]> => [
    ...new Set([...(await found(type))].map((line) => line.split(' ')[0] ?? '')),
  ];
  for (text of ['before', 'after']) {
    const pod = podWith(list, { securityContext: { fsGroup: 4321 } });
    await volumes.prepare({ ...pod, metadata: { ...pod.metadata, labels: { is: text } } }, signal);
    const links = await found('l');
    for (const link of ['..data', `key-${text}`, 'below']) assert.ok(links.has(`0:4321 ${link}`), link);
    assert.deepEqual([await owners('l'), await owners('f'), await owners('d')], [['0:4321'], ['0:4321'], ['0:4321']]);
  }
  await volumes.remove(uid, signal);
});

test('what is mounted under a name that is no UTF-8 is unmounted', async () => {
  const volumes = newVolumes();
  await volumes.prepare(podWith([{ name: 'e', emptyDir: {} }]), signal);
  const volume = dir('empty-dir', 'e');
  // As a container with mount propagation may, whose names are its own affair.
  const mountAt = 'at=$(printf "%b." "$2"); at=$1/${at%.}; mkdir -p "$at" && mount -t tmpfs tmpfs "$at"';
  const names = ['\\0377\\0012', 'a b\\0134\\0303', 'é', '%s $(false)\\0200\\0012'];
  for (const name of names) await run('sh', ['-c', mountAt, 'sh', volume, name]);
  assert.equal((await mounted()).length, names.length);
  await volumes.remove(uid, signal);
  assert.deepEqual([await mounted(), await readdir(join(rootDir, 'pods'))], [[], []]);
});

test('nfs says what the node lacks', async (t) => {
  const { stdout } = await run('sh', ['-c', 'test -x /sbin/mount.nfs && echo there || echo missing']);
  const pod = podWith([{ name: 'n', nfs: { server: '127.0.0.1', path: '/none' } }]);
  const expected =
    stdout.trim() === 'missing'
      ? /^Error: MountVolume\.CanMount failed for volume "n" : Verify that .* Required binary \/sbin\/mount\.nfs is missing \(package nfs-common/
      : /^Error: MountVolume\.SetUp failed for volume "n" : mount failed: /;
  t.diagnostic(`mount.nfs is ${stdout.trim()}`);
  await assert.rejects(newVolumes().prepare(pod, signal), expected);
});
