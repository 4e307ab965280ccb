import assert from 'node:assert/strict';
import { chmod, lstat, mkdtemp, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { ApiError } from '../../../src/model/api-error.ts';
import { type ObjectReferenceOfPod, referenceKey } from '../../../src/model/pod-references.ts';
import type { PodSpec, PodUid } from '../../../src/model/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/ports/claim-reader.ts';
import type { ReferencedObject } from '../../../src/ports/object-store.ts';
import type { TokenRequest } from '../../../src/ports/service-account-tokens.ts';
import { podVolumes, type PodVolumes } from '../../../src/volumes/pod-volumes.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const signal = AbortSignal.timeout(10_000);
const uid = 'uid-web' as PodUid;
const env = new Map([['NAME', 'b']]);
let nowMs: number;
let rootDir: string;
let volumes: PodVolumes;
let objects: Map<string, Pick<ReferencedObject, 'data' | 'binaryData'>>;
let asked: TokenRequest[];
let events: string[];
/** What is mounted where, and the directories that are in use. */
let mounted: Map<string, unknown>;
let busy: Set<string>;
/** Where else what is mounted is mounted. */
let elsewhere: readonly string[];
let claims: Map<string, PersistentVolumeClaim>;
let persistentVolumes: Map<string, PersistentVolume>;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'rxlet-root-'));
  objects = new Map();
  asked = [];
  nowMs = 0;
  events = [];
  mounted = new Map();
  busy = new Set();
  elsewhere = [];
  claims = new Map();
  persistentVolumes = new Map();
  volumes = podVolumes({
    rootDir,
    clock: { now: () => nowMs },
    events: { record: (_about, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    mounts: {
      tmpfs: async (directory, options) => void mounted.set(directory, options),
      mount: async (directory, request) => void mounted.set(directory, request),
      bind: async (source, target) => void mounted.set(target, await readlink(source)),
      share: async (directory) => void mounted.set(directory, 'shared'),
      others: async () => elsewhere,
      below: async (directory) => [...mounted.keys()].filter((target) => target.startsWith(directory)),
      unmountBelow: async (directory) => {
        if (busy.has(directory)) throw new Error('target is busy');
        for (const target of mounted.keys()) if (target.startsWith(directory)) mounted.delete(target);
      },
    },
    factsFor: () => ({
      objects: {
        get: async (reference: ObjectReferenceOfPod) => {
          const { name, kind } = reference;
          const object = objects.get(referenceKey(reference));
          if (!object) throw new ApiError(404, 'NotFound', `${kind.toLowerCase()} "${name}" not found`);
          return { metadata: { name, uid: '1', resourceVersion: '1' }, ...object };
        },
      },
      tokens: {
        get: async (_pod, request) => {
          asked.push(request);
          return 'a.b.c';
        },
      },
      allocatable: () => ({ memory: '1Gi' }),
      claims: {
        claim: async (namespace, name) => claims.get(name) ?? notThere(`persistentvolumeclaims "${namespace}/${name}" not found`),
        volume: async (name) => persistentVolumes.get(name) ?? notThere(`persistentvolumes "${name}" not found`),
      },
      node: () => ({ metadata: { name: 'n1', labels: { zone: 'a' } } }),
    }),
  });
});
const notThere = (message: string): never => {
  throw new ApiError(404, 'NotFound', message);
};
afterEach(() => rm(rootDir, { recursive: true, force: true }));

type Volume = NonNullable<PodSpec['volumes']>[number];
const podWith = (...list: readonly Volume[]) =>
  aPod(
    'web',
    { volumes: list, containers: [aContainer('app', { volumeMounts: list.map(({ name }) => ({ name, mountPath: `/${name}` })) })] },
    { labels: { app: 'web' } },
  );
const dir = (plugin: string, name: string): string => join(rootDir, 'pods', uid, 'volumes', `kubernetes.io~${plugin}`, name);
async function shown(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(join(directory, '..data'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const base = join(directory, '..data').length + 1;
  const pairs = files.map(async (path) => [path.slice(base), await readFile(path, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(pairs));
}
const base64 = (text: string): string => Buffer.from(text).toString('base64');

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
  await volumes.prepare(pod, signal);
  assert.deepEqual(await shown(dir('secret', 's')), { user: 'me', password: 's3cret' });
  assert.deepEqual(await shown(dir('configmap', 'c')), { 'img/logo.png': 'png' });
  assert.deepEqual(await shown(dir('downward-api', 'd')), { labels: 'app="web"', memory: String(2 ** 30) });
  assert.equal((await lstat(join(dir('secret', 's'), '..data', 'user'))).mode & 0o777, 0o440);
  assert.equal((await lstat(dir('secret', ''))).mode & 0o777, 0o700);
  const [container] = pod.spec.containers;
  assert.ok(container);
  assert.deepEqual(await volumes.mountsFor(pod, container, env), [
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
  await volumes.prepare(podWith({ name: 'p', projected: { sources, defaultMode: 0o644 } }), signal);
  assert.deepEqual(await shown(dir('projected', 'p')), { token: 'a.b.c', 'ca.crt': 'pem', user: 'me', namespace: 'default' });
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
    await assert.rejects(volumes.prepare(podWith(volume), signal), { message });
    assert.deepEqual(events.splice(0), [`Warning FailedMount ${message}`]);
  }
});

test('an optional object that is missing makes an empty volume, and its keys come with it', async () => {
  const pod = podWith({ name: 'c', configMap: { name: 'settings', optional: true, items: [{ key: 'k', path: 'k' }] } });
  await volumes.prepare(pod, signal);
  assert.deepEqual(await shown(dir('configmap', 'c')), {});
  objects.set('ConfigMap default/settings', { data: { k: 'v', other: 'o' } });
  await volumes.prepare(pod, signal);
  assert.deepEqual(await shown(dir('configmap', 'c')), { k: 'v' });
  assert.deepEqual(events, []);
});

test('a volume whose object goes keeps what it shows, and says so', async () => {
  objects.set('Secret default/login', { data: { user: base64('me') } });
  const pod = podWith({ name: 's', secret: { secretName: 'login' } });
  await volumes.prepare(pod, signal);
  objects.clear();
  await volumes.prepare(pod, signal);
  assert.deepEqual(await shown(dir('secret', 's')), { user: 'me' });
  assert.deepEqual(events, ['Warning FailedMount MountVolume.SetUp failed for volume "s" : secret "login" not found']);
});

test('an emptyDir is for everybody, and stays as its pod made it; at the end nothing is left', async () => {
  const pod = podWith({ name: 'e', emptyDir: {} });
  await volumes.prepare(pod, signal);
  const mode = async (): Promise<number> => (await lstat(dir('empty-dir', 'e'))).mode & 0o777;
  assert.equal(await mode(), 0o777);
  await chmod(dir('empty-dir', 'e'), 0o700);
  await volumes.prepare(pod, signal);
  assert.equal(await mode(), 0o700);
  assert.deepEqual(await readdir(dir('empty-dir', '')), ['e']);
  await volumes.remove(uid);
  await volumes.remove(uid);
  assert.deepEqual(await readdir(join(rootDir, 'pods')), []);
});

test('a kind that is not supported holds the pod, unless no container mounts the volume', async () => {
  const rbd = { name: 'r', rbd: { image: 'i', monitors: ['m'] } };
  const why = 'volume "r" is of kind rbd, which this node does not support';
  const message = `Unable to attach or mount volumes: unmounted volumes=[r], unattached volumes=[e r]: ${why}`;
  await assert.rejects(volumes.prepare(podWith({ name: 'e', emptyDir: {} }, rbd), signal), { message });
  assert.deepEqual(events, [`Warning FailedMount ${message}`]);
  await volumes.prepare(aPod('web', { volumes: [rbd] }), signal);
});

test('a fault that lasts is told less and less often, a new one at once', async () => {
  const pod = podWith({ name: 's', secret: { secretName: 'login' } });
  const toldWithin = async (ms: number): Promise<number> => {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 100) await assert.rejects(volumes.prepare(pod, signal));
    return events.splice(0).length;
  };
  assert.equal(await toldWithin(500), 1);
  assert.equal(await toldWithin(1_000), 1);
  assert.equal(await toldWithin(2_000), 1);
  objects.set('Secret default/login', { data: {} });
  await volumes.prepare(pod, signal);
  await volumes.remove(uid);
  objects.clear();
  assert.equal(await toldWithin(500), 1);
});

test('an emptyDir in memory is mounted, and unmounted before anything of it is deleted', async () => {
  const pod = podWith({ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } });
  await volumes.prepare(pod, signal);
  const directory = dir('empty-dir', 'm');
  assert.deepEqual([...mounted], [[directory, { sizeBytes: 64n * 1024n * 1024n, fsGroup: undefined }]]);
  busy.add(join(rootDir, 'pods', uid));
  await assert.rejects(volumes.remove(uid), { message: 'target is busy' });
  assert.deepEqual(await readdir(dir('empty-dir', '')), ['m']);
  busy.clear();
  await volumes.remove(uid);
  assert.equal(mounted.size, 0);
  assert.deepEqual(await readdir(join(rootDir, 'pods')), []);
});

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
  await volumes.prepare(pod, signal);
  const target = (volume: string, i: number): string => join(rootDir, 'pods', uid, 'volume-subpaths', volume, 'app', `${i}`);
  assert.deepEqual(await volumes.mountsFor(pod, container, env), [
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
    await volumes.prepare(pod, signal);
    await assert.rejects(volumes.mountsFor(pod, container, env), {
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
  await volumes.prepare(pod, signal);
  const message = 'subPathExpr "$(NONE)": missing value for "NONE"';
  await assert.rejects(volumes.mountsFor(pod, container, env), { reason: 'CreateContainerConfigError', message });
});
