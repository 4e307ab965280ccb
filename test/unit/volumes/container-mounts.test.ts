import assert from 'node:assert/strict';
import { lstat, readdir, readlink, symlink } from 'node:fs/promises';
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

test('an image is left to the engine, where that can mount one', async () => {
  const volumeMounts = [
    { name: 'i', mountPath: '/image' },
    { name: 'e', mountPath: '/data' },
  ];
  const container = aContainer('app', { volumeMounts });
  const volumes = [
    { name: 'i', image: { reference: 'example.com/model:1' } },
    { name: 'e', emptyDir: {} },
  ];
  const pod = aPod('web', { volumes, containers: [container] });
  stage.features = { ...stage.features, imageVolumes: false };
  await assert.rejects(stage.volumes.prepare(pod, signal), {
    message: 'MountVolume.SetUp failed for volume "i" : this container engine cannot mount images: a Docker Engine of 28 or later can',
  });
  stage.features = { ...stage.features, imageVolumes: true };
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await stage.volumes.mountsFor(pod, container, env, signal), [
    { hostPath: dir('empty-dir', 'e'), containerPath: '/data', readOnly: false },
  ]);
});

test('a block device is refused', async () => {
  const container = aContainer('app', { volumeDevices: [{ name: 'b', devicePath: '/dev/xvda' }] });
  const pod = aPod('web', { volumes: [{ name: 'b', persistentVolumeClaim: { claimName: 'data' } }], containers: [container] });
  await assert.rejects(
    stage.volumes.prepare(pod, signal),
    /volume "b" is asked for as a block device \(volumeDevices\), which this node does not support$/,
  );
});
