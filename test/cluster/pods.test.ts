import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { BehaviorSubject } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type FakeEngine, fakeEngine } from '../../src/engines/fake/fake-engine.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import type { MirrorOwner } from '../../src/mirror/mirror-pod-actions.ts';
import { CONFIG_HASH_ANNOTATION } from '../../src/model/config-annotations.ts';
import type { Node } from '../../src/model/node.ts';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import { connectAs } from '../builders/clients-under-test.ts';
import { kubeconfigOf, kubectl } from '../builders/cluster-under-test.ts';
import { aPodThat } from '../builders/pods-that.ts';
import { startAgent } from '../fakes/agent-on-fake-engine.ts';

const nodeName = `pods-${randomUUID().slice(0, 8)}`;
const namespace = nodeName;
const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const patience = AbortSignal.timeout(120_000);
let clients: OwnedKubeClients;
let engine: FakeEngine;
let node: MirrorOwner;
let agent: ReturnType<typeof startAgent>;
let requests: string[];

before(async () => {
  clients = await connectAs(kubeconfigOf('admin'));
  await kubectl('create', 'namespace', namespace);
  node = await clients.main.request<Node>({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name: nodeName } } }, patience);
});
after(async () => {
  await clients.close();
  await kubectl('delete', 'namespace', namespace, '--wait=false');
  await kubectl('delete', 'node', nodeName);
});

beforeEach(() => {
  engine = fakeEngine({ clock: systemClock, log: silentLogger });
  start();
});
afterEach(async () => {
  await agent.stop();
  engine.controls.close();
  await kubectl('delete', 'pods', '--all', '-n', namespace, '--force', '--grace-period=0');
});

function start(): void {
  requests = [];
  const api: Pick<OwnedKubeClients['main'], 'request'> = {
    request: (request, signal) => {
      requests.push(`${request.method} ${request.path.replace(podsPath, '')}`);
      return clients.main.request(request, signal);
    },
  };
  const { informer } = clients;
  agent = startAgent({
    clock: systemClock,
    engine,
    cluster: { api, informer, nodeName, node: new BehaviorSubject<MirrorOwner | undefined>(node) },
  });
  agent.declare([]);
}

const body = (pod: Pod, metadata: object = {}): object => ({
  metadata: { name: pod.metadata.name, annotations: pod.metadata.annotations, ...metadata },
  spec: { ...pod.spec, nodeName, automountServiceAccountToken: false },
});

/** As the scheduler would have bound it. */
async function create(pod: Pod, metadata: object = {}): Promise<Pod> {
  return clients.main.request<Pod>({ method: 'POST', path: podsPath, body: body(pod, metadata) }, patience);
}

async function remove(pod: Pod, options: object = {}): Promise<void> {
  await clients.main.request({ method: 'DELETE', path: `${podsPath}/${pod.metadata.name}`, body: options }, patience);
}

/** Waits, by the API server's own watch, until the object of this name is as told; undefined stands for none. */
function until(name: string, isSo: (pod: Pod | undefined) => boolean): Promise<Pod | undefined> {
  const target = { path: podsPath, fieldSelector: `metadata.name=${name}` };
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${name} did not get there: ${requests.join(', ')}`)), 20_000);
    const subscription = clients.informer<Pod & { metadata: { resourceVersion: string } }>(target).subscribe((event) => {
      const pod = event.kind === 'reset' ? event.items[0] : event.kind === 'put' ? event.item : undefined;
      if (!isSo(pod)) return;
      clearTimeout(late);
      queueMicrotask(() => subscription.unsubscribe());
      resolve(pod);
    });
  });
}
const isReady = (pod: Pod | undefined): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
const isGone = (pod: Pod | undefined): boolean => pod === undefined;

test('a pod becomes ready, is deleted gracefully and leaves nothing, with few requests', async () => {
  const pod = aPodThat('web');
  await create(pod);
  await until('web', isReady);
  await remove(pod);
  await until('web', isGone);
  assert.deepEqual(engine.controls.world(), []);
  const kinds = requests.map((request) => request.split(' ')[0]);
  assert.ok(kinds.filter((kind) => kind === 'PATCH').length <= 4, requests.join(', '));
  assert.equal(kinds.filter((kind) => kind === 'DELETE').length, 1);
  assert.equal(kinds.length, kinds.filter((kind) => kind === 'PATCH' || kind === 'DELETE').length);
});

test('a restarted agent has nothing to say about a pod that is as the API server shows it', async () => {
  const created = await create(aPodThat('web'));
  await until('web', isReady);
  await agent.stop();
  start();
  const second = await create(aPodThat('second'));
  await until('second', isReady);
  assert.equal(agent.statuses.get(created.metadata.uid)?.phase, 'Running');
  assert.notEqual(second.metadata.uid, created.metadata.uid);
  assert.deepEqual(
    requests.filter((request) => request.includes('/web')),
    [],
  );
});

test('a deleted pod with a finalizer ends, is asked to go once, and goes with its finalizer', async () => {
  const pod = aPodThat('held');
  await create(pod, { finalizers: ['example.com/hold'] });
  await until('held', isReady);
  await remove(pod);
  const ended = await until('held', (now) => now?.metadata.deletionGracePeriodSeconds === 0);
  assert.ok(ended?.status?.containerStatuses?.every(({ state }) => state?.terminated));
  await kubectl('patch', 'pod', 'held', '-n', namespace, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
  await until('held', isGone);
  assert.equal(requests.filter((request) => request.startsWith('DELETE')).length, 1);
});

test('conditions that others set stay, also with a readiness gate that they open', async () => {
  const pod = aPodThat('gated', { readinessGates: [{ conditionType: 'example.com/gate' }] });
  await create(pod);
  await until('gated', (now) => now?.status?.phase === 'Running');
  const status = { conditions: [{ type: 'example.com/gate', status: 'True' }] };
  const contentType = 'application/strategic-merge-patch+json';
  await clients.main.request({ method: 'PATCH', path: `${podsPath}/gated/status`, contentType, body: { status } }, patience);
  const ready = await until('gated', isReady);
  assert.equal(ready?.status?.conditions?.find(({ type }) => type === 'example.com/gate')?.status, 'True');
});

test('a static pod has a mirror that shows it, comes back when it is deleted, and goes with it', async () => {
  const uid = 'a1b2c3' as PodUid;
  const { metadata, spec } = aPodThat('etcd');
  const annotations = { ...metadata.annotations, [CONFIG_HASH_ANNOTATION]: uid };
  agent.declare([{ metadata: { ...metadata, namespace, uid, annotations }, spec: { ...spec, nodeName } }]);
  const first = await until('etcd', isReady);
  assert.equal(first?.metadata.ownerReferences?.[0]?.kind, 'Node');
  await kubectl('delete', 'pod', 'etcd', '-n', namespace, '--wait=false');
  await until('etcd', (pod) => isReady(pod) && pod?.metadata.uid !== first?.metadata.uid && pod?.metadata.deletionTimestamp === undefined);
  assert.equal(engine.controls.world().filter(({ name }) => name === 'app').length, 1);
  agent.declare([]);
  await until('etcd', isGone);
});
