import assert from 'node:assert/strict';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { base64, filesShown, podWith, VolumeStage } from '../../fakes/volume-stage.ts';

const signal = AbortSignal.timeout(10_000);
const stage = VolumeStage.forTests();
const { objects, asked, events, mounted } = stage;
const dir = (plugin: string, name: string): string => stage.dir(plugin, name);
const env = new Map([['NAME', 'b']]);

test('a secret, a ConfigMap and fields of the pod become files, which containers may only read', async () => {
  objects.set('Secret default/login', { data: { user: base64('me'), password: base64('s3cret') } });
  objects.set('ConfigMap default/settings', { data: { level: 'debug' }, binaryData: { logo: base64('png') } });
  const pod = podWith(
    { name: 's', secret: { secretName: 'login', defaultMode: 0o440 } },
    { name: 'c', configMap: { name: 'settings', items: [{ key: 'logo', path: 'img/logo.png', mode: 0o600 }] } },
    {
      name: 'd',
      downwardAPI: {
        items: [
          { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
          { path: 'memory', resourceFieldRef: { containerName: 'app', resource: 'limits.memory' } },
        ],
      },
    },
  );
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await filesShown(dir('secret', 's')), { user: 'me', password: 's3cret' });
  assert.deepEqual(await filesShown(dir('configmap', 'c')), { 'img/logo.png': 'png' });
  assert.deepEqual(await filesShown(dir('downward-api', 'd')), { labels: 'app="web"', memory: String(2 ** 30) });
  assert.equal((await lstat(join(dir('secret', 's'), '..data', 'user'))).mode & 0o777, 0o440);
  assert.equal((await lstat(dir('secret', ''))).mode & 0o777, 0o700);
  const [container] = pod.spec.containers;
  assert.ok(container);
  assert.deepEqual(await stage.volumes.mountsFor(pod, container, env, signal), [
    { hostPath: dir('secret', 's'), containerPath: '/s', readOnly: true },
    { hostPath: dir('configmap', 'c'), containerPath: '/c', readOnly: true },
    { hostPath: dir('downward-api', 'd'), containerPath: '/d', readOnly: true },
  ]);
});

test('a projected volume joins its sources, a service account token among them', async () => {
  objects.set('Secret default/login', { data: { user: base64('me') } });
  objects.set('ConfigMap default/ca', { data: { 'ca.crt': 'pem' } });
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { secret: { name: 'login' } },
    { secret: { name: 'none', optional: true } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
  ];
  await stage.volumes.prepare(podWith({ name: 'p', projected: { sources, defaultMode: 0o644 } }), signal);
  assert.deepEqual(await filesShown(dir('projected', 'p')), { token: 'a.b.c', 'ca.crt': 'pem', user: 'me', namespace: 'default' });
  assert.deepEqual(asked, [{ audience: '', expirationSeconds: 3607 }]);
});

test('what is missing holds a pod that never had the volume, in the words of the kubelet', async () => {
  objects.set('Secret default/login', { data: { user: base64('me') } });
  objects.set('ConfigMap default/settings', {});
  for (const [volume, why] of [
    [{ name: 'v', secret: { secretName: 'none' } }, 'secret "none" not found'],
    [{ name: 'v', configMap: { name: 'none' } }, 'configmap "none" not found'],
    [{ name: 'v', secret: { secretName: 'login', items: [{ key: 'k', path: 'k' }] } }, 'references non-existent secret key: k'],
    [{ name: 'v', configMap: { name: 'settings', items: [{ key: 'k', path: 'k' }] } }, 'references non-existent config key: k'],
    [
      { name: 'v', projected: { sources: [{ secret: { name: 'x' } }, { configMap: { name: 'y' } }] } },
      '[secret "x" not found, configmap "y" not found]',
    ],
  ] as const) {
    const message = `MountVolume.SetUp failed for volume "v" : ${why}`;
    await assert.rejects(stage.volumes.prepare(podWith(volume), signal), { message });
    assert.deepEqual(events.splice(0), [`Warning FailedMount ${message}`]);
  }
});

test('an optional object that is missing makes an empty volume, and its keys come with it', async () => {
  const pod = podWith({ name: 'c', configMap: { name: 'settings', optional: true, items: [{ key: 'k', path: 'k' }] } });
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await filesShown(dir('configmap', 'c')), {});
  objects.set('ConfigMap default/settings', { data: { k: 'v', other: 'o' } });
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await filesShown(dir('configmap', 'c')), { k: 'v' });
  assert.deepEqual(events, []);
});

test('a volume whose object goes keeps what it shows, and says so', async () => {
  objects.set('Secret default/login', { data: { user: base64('me') } });
  const pod = podWith({ name: 's', secret: { secretName: 'login' } });
  await stage.volumes.prepare(pod, signal);
  objects.clear();
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual(await filesShown(dir('secret', 's')), { user: 'me' });
  assert.deepEqual(events, ['Warning FailedMount MountVolume.SetUp failed for volume "s" : secret "login" not found']);
});

test('secrets, tokens and fields of the pod stay off the disk; what is there from before is not covered', async () => {
  objects.set('Secret default/login', { data: { user: base64('me') } });
  objects.set('ConfigMap default/settings', { data: { level: 'debug' } });
  const pod = podWith(
    { name: 's', secret: { secretName: 'login' } },
    { name: 'c', configMap: { name: 'settings' } },
    { name: 'd', downwardAPI: { items: [] } },
    { name: 'p', projected: { sources: [] } },
  );
  await stage.volumes.prepare(pod, signal);
  assert.deepEqual([...mounted.keys()], [dir('secret', 's'), dir('downward-api', 'd'), dir('projected', 'p')]);
  mounted.clear();
  await stage.volumes.prepare(pod, signal);
  assert.equal(mounted.size, 0);
});

test('a projected source that is not known is refused by its name', async () => {
  const sources = [{ clusterTrustBundle: { path: 'ca.pem', name: 'b' } }];
  const message = 'MountVolume.SetUp failed for volume "p" : projected source clusterTrustBundle is not supported by this node';
  await assert.rejects(stage.volumes.prepare(podWith({ name: 'p', projected: { sources } }), signal), { message });
});
