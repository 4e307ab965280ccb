import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { filter } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { firstOf } from '../../src/base/first-of.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Service } from '../../src/base/service.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import { isNotFound } from '../../src/model/api-error.ts';
import type { Pod, PodSpec } from '../../src/model/pod.ts';
import { claimReader } from '../../src/objects/claim-reader.ts';
import { objectStore } from '../../src/objects/object-store.ts';
import { TokenManager } from '../../src/objects/token-manager.ts';
import type { ObjectStore } from '../../src/ports/object-store.ts';
import { systemMounts } from '../../src/volumes/mounts.ts';
import type { PodVolumes } from '../../src/volumes/pod-volumes.ts';
import { connectAs } from '../builders/clients-under-test.ts';
import { podVolumesOn } from '../builders/pod-volumes-on.ts';
import { kubeconfigOf, kubectl, nodeKubeconfig } from '../builders/cluster-under-test.ts';

const nodeName = `volumes-${randomUUID().slice(0, 8)}`;
const namespace = nodeName;
const patience = AbortSignal.timeout(120_000);
const stop = new AbortController();
let admin: OwnedKubeClients;
let node: OwnedKubeClients;
let store: ObjectStore & Service;
let running: Promise<void>;
let rootDir: string;
let volumes: PodVolumes;
/** How far the token manager's clock is ahead. */
let aheadMs = 0;

before(async () => {
  admin = await connectAs(kubeconfigOf('admin'));
  // What a node may read is what its own pods refer to, so this is asked with a node's own name.
  node = await connectAs(await nodeKubeconfig(nodeName));
  await kubectl('create', 'namespace', namespace);
  await admin.main.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: nodeName } } }, patience);
  store = objectStore('Watch', { clients: node, clock: systemClock });
  running = store.run(stop.signal);
  rootDir = await mkdtemp(join(tmpdir(), 'rxlet-cluster-'));
  const tokens = new TokenManager({
    api: node.main,
    clock: { now: () => systemClock.now() + aheadMs, monotonicMs: () => systemClock.monotonicMs() },
    log: silentLogger,
    random: () => 0,
  });
  const facts = {
    objects: store,
    tokens,
    allocatable: () => ({}),
    claims: claimReader(node.main),
    node: () => ({ metadata: { name: nodeName } }),
  };
  volumes = podVolumesOn({ rootDir, mounts: systemMounts({ clock: systemClock }) }, facts);
});
after(async () => {
  stop.abort();
  await running;
  await Promise.all([admin.close(), node.close()]);
  await volumes.sweep(async () => false, patience);
  await rm(rootDir, { recursive: true, force: true });
  await kubectl('delete', 'namespace', namespace, '--wait=false');
  await kubectl('delete', 'pods', '--all', '-n', namespace, '--force', '--grace-period=0');
  await kubectl('delete', 'node', nodeName);
});

async function create(name: string, spec: Partial<PodSpec>): Promise<Pod> {
  const volumeMounts = (spec.volumes ?? []).map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  const containers = [{ name: 'app', image: 'busybox:1.35', volumeMounts }];
  const body = { metadata: { name }, spec: { nodeName, automountServiceAccountToken: false, containers, ...spec } };
  await until(() => kubectl('get', 'serviceaccount', 'default', '-n', namespace));
  return admin.main.request<Pod>({ method: 'POST', path: `/api/v1/namespaces/${namespace}/pods`, body }, patience);
}

/** A namespace gets its service account, and a node its permissions, a moment after what they come from. */
async function until<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (patience.aborted) throw error;
      await systemClock.sleep(100, patience);
    }
  }
}

const read = (pod: Pod, plugin: string, path: string): Promise<string> =>
  readFile(join(rootDir, 'pods', pod.metadata.uid, 'volumes', `kubernetes.io~${plugin}`, path), 'utf8');
const nextChange = (pod: Pod): Promise<unknown> => firstOf(store.changes.pipe(filter((uid) => uid === pod.metadata.uid)), patience);

test('a secret that is made after its pod is waited for, and its changes are seen within seconds', async () => {
  const pod = await create('late', { volumes: [{ name: 's', secret: { secretName: 'login' } }] });
  store.register(pod);
  const reference = { kind: 'Secret', namespace, name: 'login' } as const;
  await until(() => assert.rejects(store.get(reference, patience), isNotFound));
  await assert.rejects(volumes.prepare(pod, patience), { message: 'MountVolume.SetUp failed for volume "s" : secret "login" not found' });

  const made = nextChange(pod);
  await kubectl('create', 'secret', 'generic', 'login', '-n', namespace, '--from-literal=password=one');
  await made;
  await volumes.prepare(pod, patience);
  assert.equal(await read(pod, 'secret', 's/password'), 'one');

  const changed = nextChange(pod);
  await kubectl('patch', 'secret', 'login', '-n', namespace, '-p', '{"stringData":{"password":"two"}}');
  const sinceMs = systemClock.now();
  await changed;
  await volumes.prepare(pod, patience);
  assert.equal(await read(pod, 'secret', 's/password'), 'two');
  // The next look at the pod is a minute away.
  assert.ok(systemClock.now() - sinceMs < 20_000);
  store.unregister(pod.metadata.uid);
});

test('a projected volume holds a token that the API server takes for the service account, bound to the pod', async () => {
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 600, audience: 'vault' } },
    { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
  ];
  const pod = await create('token', { volumes: [{ name: 'p', projected: { sources } }] });
  await until(() => volumes.prepare(pod, patience));
  assert.equal(await read(pod, 'projected', 'p/name'), 'token');
  const token = await read(pod, 'projected', 'p/token');
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences: ['vault'] } };
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const review = await admin.main.request<{
    readonly status: { readonly authenticated: boolean; readonly user: { readonly username: string; readonly extra: object } };
  }>({ method: 'POST', path, body }, patience);
  assert.equal(review.status.authenticated, true);
  assert.equal(review.status.user.username, `system:serviceaccount:${namespace}:default`);
  assert.deepEqual(review.status.user.extra, {
    ...review.status.user.extra,
    'authentication.kubernetes.io/pod-name': ['token'],
    'authentication.kubernetes.io/pod-uid': [pod.metadata.uid],
  });
});

test('a hundred updates of a ConfigMap end in its last state', async () => {
  await kubectl('create', 'configmap', 'settings', '-n', namespace, '--from-literal=n=0');
  const pod = await create('busy', { volumes: [{ name: 'c', configMap: { name: 'settings' } }] });
  store.register(pod);
  await until(() => volumes.prepare(pod, patience));
  const path = `/api/v1/namespaces/${namespace}/configmaps/settings`;
  for (let n = 1; n <= 100; n++) {
    const changed = nextChange(pod);
    await admin.main.request(
      { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: { data: { n: `${n}` } } },
      patience,
    );
    await changed;
    await volumes.prepare(pod, patience);
  }
  assert.equal(await read(pod, 'configmap', 'c/n'), '100');
  store.unregister(pod.metadata.uid);
});

test('a token is another one once most of its life is over, and the volume shows it', async () => {
  const sources = [{ serviceAccountToken: { path: 'token', expirationSeconds: 600 } }];
  const pod = await create('renewed', { volumes: [{ name: 'p', projected: { sources } }] });
  await until(() => volumes.prepare(pod, patience));
  const first = await read(pod, 'projected', 'p/token');
  aheadMs = 300_000;
  await volumes.prepare(pod, patience);
  assert.equal(await read(pod, 'projected', 'p/token'), first);
  // The API server counts in seconds.
  await systemClock.sleep(1_100, patience);
  aheadMs = 490_000;
  await volumes.prepare(pod, patience);
  assert.notEqual(await read(pod, 'projected', 'p/token'), first);
  aheadMs = 0;
});

test('a claim waits until it is bound, then shows its local volume: the node may read both', async () => {
  const data = join(rootDir, 'data');
  await mkdir(data);
  await writeFile(join(data, 'precious'), 'x');
  const name = `${namespace}-pv`;
  const storage = { storageClassName: name, accessModes: ['ReadWriteOnce'] };
  const claim = { metadata: { name: 'data' }, spec: { ...storage, resources: { requests: { storage: '1Mi' } } } };
  await admin.main.request({ method: 'POST', path: `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, body: claim }, patience);
  const pod = await create('claimant', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
  await assert.rejects(volumes.prepare(pod, patience), /error processing PVC [^ ]*\/data: (PVC is not bound|failed to fetch PVC)/);
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const spec = {
    ...storage,
    capacity: { storage: '1Mi' },
    persistentVolumeReclaimPolicy: 'Retain',
    local: { path: data },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields }] } },
  };
  await admin.main.request({ method: 'POST', path: '/api/v1/persistentvolumes', body: { metadata: { name }, spec } }, patience);
  try {
    await until(() => volumes.prepare(pod, patience));
    assert.equal(await read(pod, 'local-volume', `${name}/precious`), 'x');
  } finally {
    await admin.main.request({ method: 'DELETE', path: `/api/v1/persistentvolumes/${name}` }, patience);
  }
  await volumes.remove(pod.metadata.uid, stop.signal);
  assert.equal(await readFile(join(data, 'precious'), 'utf8'), 'x');
});
