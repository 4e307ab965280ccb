import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
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

test('secrets, tokens and fields of the pod stay off the disk; what is there from before is not covered', async () => {
  objects.set('Secret default/login', { data: { user: base64('me') } });
  objects.set('ConfigMap default/settings', { data: { level: 'debug' } });
  const pod = podWith(
    { name: 's', secret: { secretName: 'login' } },
    { name: 'c', configMap: { name: 'settings' } },
    { name: 'd', downwardAPI: { items: [] } },
    { name: 'p', projected: { sources: [] } },
  );
  await volumes.prepare(pod, signal);
  assert.deepEqual([...mounted.keys()], [dir('secret', 's'), dir('downward-api', 'd'), dir('projected', 'p')]);
  mounted.clear();
  await volumes.prepare(pod, signal);
  assert.equal(mounted.size, 0);
});

test('a volume that does not change is made once', async () => {
  const pod = podWith({ name: 'h', hostPath: { path: join(rootDir, 'made'), type: 'DirectoryOrCreate' } });
  await volumes.prepare(pod, signal);
  await rm(join(rootDir, 'made'), { recursive: true });
  await volumes.prepare(pod, signal);
  assert.deepEqual(await readdir(rootDir), []);
});

test('each medium of an emptyDir that cannot be had is refused by its name', async () => {
  for (const [medium, why] of [
    ['HugePages', 'medium HugePages: huge pages as a volume are not supported by this node'],
    ['HugePages-2Mi', 'medium HugePages-2Mi: huge pages as a volume are not supported by this node'],
    ['Tape', 'unknown storage medium "Tape"'],
  ] as const) {
    const message = `MountVolume.SetUp failed for volume "e" : ${why}`;
    await assert.rejects(volumes.prepare(podWith({ name: 'e', emptyDir: { medium } }), signal), { message });
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
  await volumes.prepare(aPod('web', { volumes: list, containers, securityContext: { fsGroup: 1234 } }), signal);
  const found = async (path: string): Promise<readonly number[]> => {
    const { gid, mode } = await stat(path);
    return [gid, mode & 0o7777];
  };
  assert.deepEqual(await found(dir('empty-dir', 'e')), [1234, 0o2777]);
  assert.deepEqual(await found(join(dir('configmap', 'c'), 'level')), [1234, 0o440]);
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
  await volumes.prepare(pod, signal);
  objects.set('ConfigMap default/settings', { data: { b: '2' } });
  await volumes.prepare(pod, signal);
  const names = (await readdir(dir('configmap', 'c'))).filter((name) => !name.startsWith('..'));
  assert.deepEqual(names.sort(), ['b', 'cache']);
  assert.ok((await lstat(join(dir('configmap', 'c'), 'cache/hot'))).isDirectory());
});

test('a pod that waits for its volumes is told so as often as the kubelet tells it', async () => {
  objects.set('ConfigMap default/settings', { data: {} });
  const pod = podWith({ name: 's', secret: { secretName: 'login' } }, { name: 'c', configMap: { name: 'settings' } });
  const told = (): number => events.splice(0).filter((event) => event.endsWith('timed out waiting for the condition')).length;
  const untilMs = async (endMs: number): Promise<void> => {
    for (; nowMs <= endMs; nowMs += 1_000) await assert.rejects(volumes.prepare(pod, signal));
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

const aClaim = (over: PersistentVolumeClaim = {}): PersistentVolumeClaim => ({
  metadata: { name: 'data', uid: 'claim-1' },
  spec: { volumeName: 'pv-1' },
  status: { phase: 'Bound' },
  ...over,
});
const aVolume = (spec: PersistentVolume['spec']): PersistentVolume => ({
  metadata: { name: 'pv-1' },
  spec: { claimRef: { uid: 'claim-1' }, ...spec },
});
const claimed = (readOnly = false) => podWith({ name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly } });
const mountOf = async (pod: ReturnType<typeof podWith>): Promise<unknown> => {
  await volumes.prepare(pod, signal);
  const [container] = pod.spec.containers;
  assert.ok(container);
  return (await volumes.mountsFor(pod, container, env))[0];
};

test('a claim shows the volume that it is bound to: a path of the node as it is, a local directory at a place of its own', async () => {
  claims.set('data', aClaim());
  persistentVolumes.set('pv-1', aVolume({ hostPath: { path: rootDir } }));
  assert.deepEqual(await mountOf(claimed()), { hostPath: rootDir, containerPath: '/v', readOnly: false });
  await volumes.remove(uid);
  persistentVolumes.set('pv-1', aVolume({ local: { path: rootDir }, mountOptions: ['noatime'] }));
  const place = dir('local-volume', 'pv-1');
  assert.deepEqual(await mountOf(claimed(true)), { hostPath: place, containerPath: '/v', readOnly: true });
  assert.deepEqual([...mounted], [[place, { type: 'bind', source: rootDir, options: ['ro', 'noatime'] }]]);
});

test('users of a volume are in the group that the volume names', async () => {
  claims.set('data', aClaim());
  const spec = { claimRef: { uid: 'claim-1' }, hostPath: { path: '/data' } };
  for (const [gid, expected] of [
    ['1234', { supplementalGroup: 1234 }],
    ['staff', {}],
  ] as const) {
    persistentVolumes.set('pv-1', { metadata: { name: 'pv-1', annotations: { 'pv.beta.kubernetes.io/gid': gid } }, spec });
    await volumes.remove(uid);
    assert.deepEqual(await mountOf(claimed()), { hostPath: '/data', containerPath: '/v', readOnly: false, ...expected });
  }
});

test('a projected source that is not known is refused by its name', async () => {
  const sources = [{ clusterTrustBundle: { path: 'ca.pem', name: 'b' } }];
  const message = 'MountVolume.SetUp failed for volume "p" : projected source clusterTrustBundle is not supported by this node';
  await assert.rejects(volumes.prepare(podWith({ name: 'p', projected: { sources } }), signal), { message });
});

test('the claim of an ephemeral volume has to be of its pod', async () => {
  const pod = podWith({ name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } });
  persistentVolumes.set('pv-1', aVolume({ hostPath: { path: '/data' } }));
  const owned = (owner: string) => ({
    ...aClaim().metadata,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web', uid: owner, controller: true }],
  });
  claims.set('web-v', aClaim({ metadata: owned('other') }));
  await assert.rejects(volumes.prepare(pod, signal), /error processing PVC default\/web-v: not the ephemeral PVC for the pod$/);
  claims.set('web-v', aClaim({ metadata: owned(uid) }));
  assert.deepEqual(await mountOf(pod), { hostPath: '/data', containerPath: '/v', readOnly: false });
});

test('a claim that leads nowhere holds the pod, in the words of the kubelet', async () => {
  const fine = aVolume({ hostPath: { path: '/data' } });
  for (const [claim, volume, why] of [
    [undefined, fine, 'failed to fetch PVC from API server: persistentvolumeclaims "default/data" not found'],
    [aClaim({ metadata: { uid: 'claim-1', deletionTimestamp: '2026-01-01T00:00:00Z' } }), fine, 'PVC is being deleted'],
    [aClaim({ status: { phase: 'Pending' } }), fine, 'PVC is not bound'],
    [aClaim({ spec: {} }), fine, 'PVC has empty pvc.Spec.VolumeName'],
    [aClaim(), undefined, 'failed to fetch PV pv-1 from API server: persistentvolumes "pv-1" not found'],
    [
      aClaim(),
      { metadata: { name: 'pv-1' }, spec: {} },
      'found PV object pv-1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
    ],
    [
      aClaim(),
      aVolume({ claimRef: { uid: 'other' } }),
      'found PV object pv-1 but its pv.Spec.ClaimRef.UID other does not point to claim.UID claim-1',
    ],
    [aClaim(), aVolume({ volumeMode: 'Block' }), 'volume v has volumeMode Block, but is specified in volumeMounts'],
  ] as const) {
    claims.clear();
    persistentVolumes.clear();
    if (claim) claims.set('data', claim);
    if (volume) persistentVolumes.set('pv-1', volume);
    const message = `Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[v]: error processing PVC default/data: ${why}`;
    await assert.rejects(volumes.prepare(claimed(), signal), { message });
    assert.deepEqual(events.splice(0), [`Warning FailedMount ${message}`]);
  }
});

test('a volume that must not be mounted here says so, by its own name', async () => {
  const zone = (value: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }] },
  });
  claims.set('data', aClaim());
  for (const [spec, message] of [
    [
      { local: { path: '/data' }, nodeAffinity: zone('b') },
      'MountVolume.NodeAffinity check failed for volume "pv-1" : no matching NodeSelectorTerms',
    ],
    [
      { hostPath: { path: '/data' }, mountOptions: ['ro'] },
      'MountVolume.MountOptionSupport check failed for volume "pv-1" : Mount options are not supported for this volume type',
    ],
    [
      { csi: { driver: 'd', volumeHandle: 'h' } },
      'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[v]: volume "pv-1" is of kind csi, which this node does not support',
    ],
  ] as const) {
    persistentVolumes.set('pv-1', aVolume(spec));
    await assert.rejects(volumes.prepare(claimed(), signal), { message });
  }
  persistentVolumes.set('pv-1', aVolume({ local: { path: rootDir }, nodeAffinity: zone('a') }));
  await volumes.prepare(claimed(), signal);
});

test('a container says how mounts cross over, and that all of a mount is only read', async () => {
  const volumeMounts = [
    { name: 'e', mountPath: 'data', mountPropagation: 'Bidirectional' },
    { name: 'h', mountPath: '/host', mountPropagation: 'HostToContainer' },
    { name: 'h', mountPath: '/plain', mountPropagation: 'None', readOnly: true, recursiveReadOnly: 'IfPossible' },
  ];
  const list = [
    { name: 'e', emptyDir: {} },
    { name: 'h', hostPath: { path: '/srv' } },
  ];
  const container = aContainer('app', { volumeMounts });
  const pod = aPod('web', { volumes: list, containers: [container] });
  await volumes.prepare(pod, signal);
  assert.deepEqual(await volumes.mountsFor(pod, container, env), [
    { hostPath: dir('empty-dir', 'e'), containerPath: '/data', readOnly: false, propagation: 'bidirectional' },
    { hostPath: '/srv', containerPath: '/host', readOnly: false, propagation: 'hostToContainer' },
    { hostPath: '/srv', containerPath: '/plain', readOnly: true },
  ]);
  assert.deepEqual([...mounted], [[dir('empty-dir', 'e'), 'shared']]);
  const strict = aContainer('app', { volumeMounts: [{ name: 'h', mountPath: '/x', readOnly: true, recursiveReadOnly: 'Enabled' }] });
  await assert.rejects(async () => volumes.mountsFor(pod, strict, env), {
    reason: 'CreateContainerConfigError',
    message: /recursiveReadOnly/,
  });
});

test('a block device is refused', async () => {
  const container = aContainer('app', { volumeDevices: [{ name: 'b', devicePath: '/dev/xvda' }] });
  const pod = aPod('web', { volumes: [{ name: 'b', persistentVolumeClaim: { claimName: 'data' } }], containers: [container] });
  await assert.rejects(
    volumes.prepare(pod, signal),
    /volume "b" is asked for as a block device \(volumeDevices\), which this node does not support$/,
  );
});

test('volumes go when the pod has ended, its directory stays until it is forgotten', async () => {
  const pod = podWith({ name: 'm', emptyDir: { medium: 'Memory' } });
  await volumes.prepare(pod, signal);
  await writeFile(join(rootDir, 'pods', uid, 'etc-hosts'), '');
  assert.equal(await volumes.remain(uid), true);
  await volumes.tearDown(uid);
  await volumes.tearDown(uid);
  assert.deepEqual([mounted.size, await volumes.remain(uid), await readdir(join(rootDir, 'pods', uid))], [0, false, ['etc-hosts']]);
});

test('what pods left that are known no more is swept; one in use is left alone until it is not', async () => {
  for (const each of ['known', 'gone', 'busy']) await mkdir(join(rootDir, 'pods', each, 'volumes'), { recursive: true });
  await writeFile(join(rootDir, 'pods', 'a-file'), '');
  busy.add(join(rootDir, 'pods', 'busy'));
  const isKnown = async (each: PodUid): Promise<boolean> => each === 'known';
  const first = await volumes.sweep(isKnown, signal);
  assert.deepEqual([first.removed, [...first.failed.keys()]], [['gone'], ['busy']]);
  busy.clear();
  assert.deepEqual((await volumes.sweep(isKnown, signal)).removed, ['busy']);
  assert.deepEqual((await readdir(join(rootDir, 'pods'))).sort(), ['a-file', 'known']);
});
