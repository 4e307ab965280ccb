import type { Pod } from '../../../src/model/pod.ts';
import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, readlink, statfs, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { VolumeStage } from '../../fakes/volume-stage.ts';

const signal = AbortSignal.timeout(10_000);
const stage = VolumeStage.forTests();
const { uid, rootDir, objects, mounted } = stage;
const dir = (plugin: string, name: string): string => stage.dir(plugin, name);
const env = new Map([['NAME', 'b']]);

test('a subPath is shown from within its volume, and made where there is nothing', async () => {
  objects.set('ConfigMap default/settings', { data: { level: 'debug' } });
  const volumeMounts = [
    { name: 'e', mountPath: '/data', subPathExpr: 'a/$(NAME)' },
    { name: 'c', mountPath: '/etc/level', subPath: 'level' },
  ];
  const container = aContainer('app', { volumeMounts });
  const pod = aPod('web', {
    volumes: [
      { name: 'e', emptyDir: {} },
      { name: 'c', configMap: { name: 'settings' } },
    ],
    containers: [container],
  });
  await stage.volumes.prepare(pod, signal);
  const target = (volume: string, i: number): string => join(rootDir, 'pods', uid, 'volume-subpaths', volume, 'app', `${i}`);
  assert.deepEqual(await stage.volumes.mountsFor(pod, container, env, signal), [
    { hostPath: target('e', 0), containerPath: '/data', readOnly: false },
    { hostPath: target('c', 1), containerPath: '/etc/level', readOnly: true },
  ]);
  assert.equal(mounted.get(target('e', 0)), join(dir('empty-dir', 'e'), 'a/b'));
  assert.equal((await lstat(join(dir('empty-dir', 'e'), 'a/b'))).mode & 0o777, 0o777);
  assert.equal(mounted.get(target('c', 1)), join(dir('configmap', 'c'), await readlink(join(dir('configmap', 'c'), '..data')), 'level'));
});

test('a subPath that leads out of its volume is not shown', async () => {
  const volume = { name: 'e', emptyDir: {} };
  const refused = async (subPath: string): Promise<void> => {
    const container = aContainer('app', { volumeMounts: [{ name: 'e', mountPath: '/data', subPath }] });
    const pod = aPod('web', { volumes: [volume], containers: [container] });
    await stage.volumes.prepare(pod, signal);
    await assert.rejects(stage.volumes.mountsFor(pod, container, env, signal), {
      reason: 'CreateContainerConfigError',
      message: /^failed to prepare subPath for volumeMount "e" of container "app": /,
    });
  };
  await refused('../x');
  await refused('/etc');
  await symlink('/etc', join(dir('empty-dir', 'e'), 'out'));
  await refused('out');
  await refused('out/new');
  await symlink('/nowhere', join(dir('empty-dir', 'e'), 'dangling'));
  await refused('dangling/new');
  assert.equal(mounted.size, 0);
});

test('a subPathExpr that names an unknown variable holds the container', async () => {
  const container = aContainer('app', { volumeMounts: [{ name: 'e', mountPath: '/data', subPathExpr: '$(NONE)' }] });
  const pod = aPod('web', { volumes: [{ name: 'e', emptyDir: {} }], containers: [container] });
  await stage.volumes.prepare(pod, signal);
  const message = 'subPathExpr "$(NONE)": missing value for "NONE"';
  await assert.rejects(stage.volumes.mountsFor(pod, container, env, signal), { reason: 'CreateContainerConfigError', message });
});

test('a directory is there wherever a container mounts another volume, and a change of the volume leaves it alone', async () => {
  objects.set('ConfigMap default/settings', { data: { a: '1' } });
  const volumeMounts = [
    { name: 'c', mountPath: '/etc/app' },
    { name: 'e', mountPath: '/etc/app/cache/hot' },
    { name: 'e', mountPath: '/etc/other' },
  ];
  const list = [
    { name: 'c', configMap: { name: 'settings' } },
    { name: 'e', emptyDir: {} },
  ];
  const pod = aPod('web', { volumes: list, containers: [aContainer('app', { volumeMounts })] });
  await stage.volumes.prepare(pod, signal);
  objects.set('ConfigMap default/settings', { data: { b: '2' } });
  await stage.volumes.prepare(pod, signal);
  const names = (await readdir(dir('configmap', 'c'))).filter((name) => !name.startsWith('..'));
  assert.deepEqual(names.sort(), ['b', 'cache']);
  assert.ok((await lstat(join(dir('configmap', 'c'), 'cache/hot'))).isDirectory());
});

test('a container says how mounts cross over, and that all of a mount is only read', async () => {
  const volumeMounts = [
    { name: 'e', mountPath: 'data', mountPropagation: 'Bidirectional' },
    { name: 'h', mountPath: '/host', mountPropagation: 'HostToContainer' },
    { name: 'h', mountPath: '/plain', mountPropagation: 'None', readOnly: true, recursiveReadOnly: 'Disabled' },
  ];
  const list = [
    { name: 'e', emptyDir: {} },
    { name: 'h', hostPath: { path: '/srv' } },
  ];
  const container = aContainer('app', { volumeMounts });
  const pod = aPod('web', { volumes: list, containers: [container] });
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await stage.volumes.mountsFor(pod, container, env, signal), [
    { hostPath: dir('empty-dir', 'e'), containerPath: '/data', readOnly: false, propagation: 'bidirectional' },
    { hostPath: '/srv', containerPath: '/host', readOnly: false, propagation: 'hostToContainer' },
    { hostPath: '/srv', containerPath: '/plain', readOnly: true },
  ]);
  assert.deepEqual([...mounted], [[dir('empty-dir', 'e'), 'shared']]);
});

describe('a mount that is to be read-only with all below it', () => {
  const mountOf = async (over: object): Promise<unknown> => {
    const container = aContainer('app', { volumeMounts: [{ name: 'h', mountPath: '/x', readOnly: true, ...over }] });
    const pod = aPod('web', { volumes: [{ name: 'h', hostPath: { path: '/srv' } }], containers: [container] });
    await stage.volumes.prepare(pod, signal);
    return (await stage.volumes.mountsFor(pod, container, env, signal))[0];
  };
  const plain = { hostPath: '/srv', containerPath: '/x', readOnly: true };
  const unable = { ...stage.features, handlers: [{ name: '', recursiveReadOnly: false, userNamespaces: false }] };

  test('is so where the engine can', async () => {
    for (const recursiveReadOnly of ['Enabled', 'IfPossible'])
      assert.deepEqual(await mountOf({ recursiveReadOnly }), { ...plain, recursiveReadOnly: true });
  });

  test('is plain where the engine cannot and it need not be, and is refused where it must', async () => {
    stage.features = unable;
    assert.deepEqual(await mountOf({ recursiveReadOnly: 'IfPossible' }), plain);
    await assert.rejects(mountOf({ recursiveReadOnly: 'Enabled' }), {
      reason: 'CreateContainerConfigError',
      message:
        'failed to resolve recursive read-only mode: volume "h" requested recursive read-only mode, but it is not supported by the runtime',
    });
  });

  for (const [why, over] of [
    ['not read-only', { readOnly: false, recursiveReadOnly: 'IfPossible' }],
    ['not compatible with propagation "HostToContainer"', { recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' }],
  ] as const) {
    test(`is refused where it is ${why}`, () =>
      assert.rejects(mountOf(over), { message: new RegExp(`requested recursive read-only mode, but it is ${why}$`) }));
  }
});

test('where the machine labels files, what is the pod’s alone gets its label, and what is the node’s does not', async () => {
  objects.set('ConfigMap default/settings', { data: { a: '1' } });
  stage.selinux = true;
  stage.renew();
  const list = [
    { name: 'e', emptyDir: {} },
    { name: 'c', configMap: { name: 'settings' } },
    { name: 'h', hostPath: { path: '/srv' } },
  ];
  const container = aContainer('app', { volumeMounts: list.map(({ name }) => ({ name, mountPath: `/${name}` })) });
  const pod = aPod('web', { volumes: list, containers: [container] });
  await stage.volumes.prepare(pod, signal);
  const relabelled = (await stage.volumes.mountsFor(pod, container, env, signal)).map(({ relabel }) => relabel);
  assert.deepEqual(relabelled, [true, true, undefined]);
});

describe('an image', () => {
  const container = aContainer('app', {
    volumeMounts: [
      { name: 'i', mountPath: '/image' },
      { name: 'i', mountPath: '/part', subPath: 'etc/motd' },
      { name: 'e', mountPath: '/data' },
    ],
  });
  const volumes = [
    { name: 'i', image: { reference: 'example.com/model:1' } },
    { name: 'e', emptyDir: {} },
  ];
  const pod = aPod('web', { volumes, containers: [container] });
  const data = { hostPath: dir('empty-dir', 'e'), containerPath: '/data', readOnly: false };
  const mountsOf = (imageRef = 'sha256:abc', of = container) => stage.volumes.mountsFor(pod, of, env, signal, new Map([['i', imageRef]]));
  const withMotd: typeof stage.exportImage = async (imageRef, directory) => {
    await mkdir(join(directory, 'etc'));
    await writeFile(join(directory, 'etc/motd'), imageRef);
    await symlink('/', join(directory, 'out'));
  };

  test('is left to an engine that mounts it', async () => {
    await stage.volumes.prepare(pod, signal);
    assert.deepEqual(await stage.volumes.mountsFor(pod, container, env, signal), [data]);
  });

  test('is exported once where the engine does not mount it, and shown read-only, whole and in part', async () => {
    const exported: string[] = [];
    stage.exportImage = async (...asked) => {
      exported.push(asked[0]);
      await withMotd(...asked);
    };
    await stage.volumes.prepare(pod, signal);
    const mounts = await mountsOf();
    const root = join(dir('image', 'i'), 'sha256_abc');
    const part = join(stage.rootDir, 'pods', stage.uid, 'volume-subpaths/i/app/1');
    assert.deepEqual(mounts, [
      { hostPath: root, containerPath: '/image', readOnly: true },
      { hostPath: part, containerPath: '/part', readOnly: true },
      data,
    ]);
    assert.equal(await readFile(join(root, 'etc/motd'), 'utf8'), 'sha256:abc');
    assert.equal(stage.mounted.get(part), join(root, 'etc/motd'));
    // Also by another agent, and for a container that starts again; another image has files of its own.
    stage.renew();
    await stage.volumes.prepare(pod, signal);
    assert.deepEqual(await mountsOf(), mounts);
    assert.equal((await mountsOf('sha256:def'))[0]?.hostPath, join(dir('image', 'i'), 'sha256_def'));
    assert.deepEqual(exported, ['sha256:abc', 'sha256:def']);
    await stage.volumes.remove(pod.metadata.uid, signal);
    assert.equal(await stage.volumes.remain(pod.metadata.uid), false);
  });

  test('that was exported in part only is exported anew, and nothing of it is left where that fails', async () => {
    await stage.volumes.prepare(pod, signal);
    stage.exportImage = async (...asked) => {
      await withMotd(...asked);
      throw new Error('cut off');
    };
    await assert.rejects(mountsOf(), /^Error: cut off$/);
    assert.deepEqual(await readdir(dir('image', 'i')), []);
    // As a crash leaves it.
    await mkdir(join(dir('image', 'i'), 'sha256_abc.draft/old'), { recursive: true });
    stage.exportImage = withMotd;
    const [whole] = await mountsOf();
    assert.deepEqual((await readdir(whole?.hostPath ?? '')).toSorted(), ['etc', 'out']);
  });

  test('has no parts outside of itself, and none that are not there', async () => {
    stage.exportImage = withMotd;
    await stage.volumes.prepare(pod, signal);
    const part = (subPath: string) =>
      mountsOf('sha256:abc', aContainer('app', { volumeMounts: [{ name: 'i', mountPath: '/p', subPath }] }));
    await assert.rejects(part('out'), /subPath "out" leads out of the volume$/);
    await assert.rejects(part('out/etc'), /subPath "out\/etc" leads out of the volume$/);
    await assert.rejects(part('etc/nowhere'), /subPath "etc\/nowhere" is not there$/);
    await assert.rejects(part('../x'), /must be a relative path without '..'$/);
  });

  test('leaves a tenth of the file system free', async () => {
    let room = 0;
    stage.exportImage = async (_imageRef, _directory, maxBytes) => void (room = maxBytes);
    const { bavail, blocks, bsize } = await statfs(stage.rootDir);
    await stage.volumes.prepare(pod, signal);
    await mountsOf('sha256:abc', aContainer('app', { volumeMounts: [{ name: 'i', mountPath: '/image' }] }));
    // Others use the disk meanwhile.
    assert.ok(Math.abs(room - Math.max(0, bavail - blocks / 10) * bsize) < 2 ** 30, `${room}`);
  });
});

test('a block device is of a claim, and of what has devices', async () => {
  const container = aContainer('app', { volumeDevices: [{ name: 'b', devicePath: '/dev/xvda' }] });
  const refused = (volume: NonNullable<Pod['spec']['volumes']>[number], message: RegExp): Promise<void> =>
    assert.rejects(stage.volumes.prepare(aPod('web', { volumes: [volume], containers: [container] }), signal), message);
  await refused({ name: 'b', emptyDir: {} }, /volume b is no claim, but is specified in volumeDevices$/);
  const claimed = { name: 'b', persistentVolumeClaim: { claimName: 'data' } };
  stage.claims.set('data', { metadata: { uid: 'c' }, spec: { volumeName: 'pv' }, status: { phase: 'Bound' } });
  const spec = { claimRef: { uid: 'c' }, hostPath: { path: '/dev/sda' } };
  stage.persistentVolumes.set('pv', { metadata: { name: 'pv' }, spec });
  await refused(claimed, /volume b has volumeMode Filesystem, but is specified in volumeDevices$/);
  stage.persistentVolumes.set('pv', { metadata: { name: 'pv' }, spec: { ...spec, volumeMode: 'Block' } });
  await refused(
    claimed,
    /volume b has volumeMode Block, which this node supports for local, iscsi and fc volumes and those of CSI drivers alone$/,
  );
});
