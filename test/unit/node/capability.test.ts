import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test, type TestContext } from 'node:test';
import { filter, map } from 'rxjs';
import { firstOf } from '../../../src/base/first-of.ts';
import { isJsonObject } from '../../../src/base/json-object.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { embeddedEngine } from '../../../src/engines/fake/engine.ts';
import { fakeEngine } from '../../../src/engines/fake/fake-engine.ts';
import { NodeUse } from '../../../src/model/node-use.ts';
import type { Node } from '../../../src/model/node.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import { capability } from '../../../src/node/capability.ts';
import type { NodeParticipant } from '../../../src/ports/node-participant.ts';
import type { ResourceEvent, WatchedObject } from '../../../src/ports/kube-api.ts';
import { aPod } from '../../builders/a-pod.ts';
import { type NodeUnderTest, nodeUnderTest, nothingGiven, withoutCluster } from '../../builders/node-parts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';

const path = '/api/v1/nodes/n1';
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1';

/** A node of a cluster, whose services run until the test ends. */
async function inCluster(
  t: TestContext,
  participants: readonly NodeParticipant[] = [],
  options: Partial<KubeletOptions> = {},
): Promise<NodeUnderTest & { api: FakeKubeApi }> {
  const api = new FakeKubeApi();
  const clients = {
    main: api.door('main'),
    events: api.door('events'),
    heartbeat: api.door('heartbeat'),
    reviews: api.door('reviews'),
    informer: api.informer.bind(api),
  };
  const nodes = api
    .informer<WatchedObject & Node>({ path: '/api/v1/nodes', fieldSelector: 'metadata.name=n1' })
    .pipe(map((event): ResourceEvent<Node> => event));
  // The facts are read from real files: nothing else takes time.
  const engine = fakeEngine({ clock: new FakeClock(), log: silentLogger, latencyMs: 0 });
  const under = nodeUnderTest({
    engine: embeddedEngine(engine),
    options: { rootDir: tmpdir(), ...options },
    cluster: { ...withoutCluster, exists: true, clients, nodes },
  });
  const { services = [], node } = capability(under.node);
  const stop = new AbortController();
  const given = { ...nothingGiven, node: [...(node ? [node] : []), ...participants] };
  const registered = under.log.next('node registered');
  const running = Promise.all(services.map((service) => service.run(stop.signal, given)));
  t.after(async () => {
    stop.abort();
    await running;
    under.controls.close();
    engine.controls.close();
  });
  await registered;
  return { ...under, api };
}

test('the node is in the API with its lease, and its start is an event', async (t) => {
  const { api, clock, events } = await inCluster(t);
  await clock.advance(1_000);
  const { status } = stored(api) ?? {};
  assert.equal(isReady({ status }), true);
  assert.match(status?.nodeInfo?.containerRuntimeVersion ?? '', /:\/\//);
  assert.ok(api.stored(lease));
  assert.equal(events[0]?.reason, 'Starting');
});

test('nodeLeaseDurationSeconds is in the lease', async (t) => {
  const { api, clock } = await inCluster(t, [], { nodeLeaseDurationSeconds: 7 });
  await clock.advance(1_000);
  const spec = api.stored(lease)?.['spec'];
  assert.equal(isJsonObject(spec) && spec['leaseDurationSeconds'], 7);
});

for (const [seconds, isSent] of [
  [30, true],
  [600, false],
] as const)
  test(`nodeStatusReportFrequency ${seconds} s: what has not changed is ${isSent ? '' : 'not '}sent again within 70 s`, async (t) => {
    const { api, clock } = await inCluster(t, [], { nodeStatusUpdateFrequencyMs: 10_000, nodeStatusReportFrequencyMs: seconds * 1_000 });
    const sent = (): number => api.requests.filter(({ method, path: to }) => method === 'PATCH' && to === `${path}/status`).length;
    await clock.advance(1_000);
    const before = sent();
    for (let at = 0; at < 70; at++) {
      await clock.advance(1_000);
      // The facts are read from real files, one after the other: each of these is served after one of them.
      for (let turns = 0; turns < 30; turns++) await stat(tmpdir());
    }
    assert.equal(sent() > before, isSent);
  });

test('a condition, an error and a resource of participants are in the status', async (t) => {
  let errors = ['the disk is broken'];
  const { api, clock, node } = await inCluster(t, [
    { conditions: () => [{ type: 'MemoryPressure', status: 'True', reason: 'Test', message: 'short of memory' }] },
    { errors: () => errors, resources: () => ({ 'example.com/gpu': '2' }) },
  ]);
  const { status } = stored(api) ?? {};
  const condition = (type: string): unknown => {
    const found = status?.conditions?.find((each) => each.type === type);
    return [found?.status, found?.message];
  };
  assert.deepEqual(condition('MemoryPressure'), ['True', 'short of memory']);
  assert.deepEqual(condition('DiskPressure'), ['False', 'kubelet has no disk pressure']);
  assert.deepEqual(condition('Ready'), ['False', 'the disk is broken']);
  assert.deepEqual([status?.capacity?.['example.com/gpu'], status?.allocatable?.['example.com/gpu']], ['2', '2']);
  assert.deepEqual(node.node.resources.provided().capacity, { 'example.com/gpu': '2' });
  errors = [];
  const ready = api
    .informer<WatchedObject & Node>({ path: '/api/v1/nodes' })
    .pipe(filter((event) => event.kind === 'put' && isReady(event.item)));
  const nowReady = firstOf(ready, AbortSignal.timeout(10_000));
  await clock.advance(11_000);
  await nowReady;
});

test('without a cluster nothing is sent, and resources are counted all the same', async () => {
  const under = nodeUnderTest();
  const { services = [] } = capability(under.node);
  const stop = new AbortController();
  const given = { ...nothingGiven, node: [{ resources: () => ({ 'example.com/gpu': '2' }) }] };
  const running = Promise.all(services.map((service) => service.run(stop.signal, given)));
  assert.deepEqual(under.node.node.resources.provided().capacity, { 'example.com/gpu': '2' });
  stop.abort();
  await running;
  assert.deepEqual(under.events, []);
});

test('a pod that does not fit is refused, by the node as it is known', async () => {
  const under = nodeUnderTest();
  const { pod } = capability(under.node);
  const others = new NodeUse();
  const { signal } = new AbortController();
  const asking = (cpu: string): ReturnType<typeof aPod> => {
    const plain = aPod('web');
    const containers = plain.spec.containers.map((container) => ({ ...container, resources: { requests: { cpu } } }));
    return { ...plain, spec: { ...plain.spec, containers } };
  };
  assert.equal(await pod?.admit?.(asking('4'), others, signal), undefined);
  assert.equal((await pod?.admit?.(asking('5'), others, signal))?.reason, 'OutOfcpu');
  const elsewhere = aPod('web');
  const refusal = await pod?.admit?.({ ...elsewhere, spec: { ...elsewhere.spec, nodeSelector: { disk: 'ssd' } } }, others, signal);
  assert.equal(refusal?.reason, 'NodeAffinity');
});

test('a pod of the API whose node seems to lack a label is judged once more by the node as the API server has it; a static pod waits for nobody', async () => {
  const api = new FakeKubeApi();
  api.put(path, { metadata: { name: 'n1', labels: { disk: 'ssd' } } });
  const door = api.door('heartbeat');
  const doors = { main: door, events: door, heartbeat: door, reviews: door, informer: api.informer.bind(api) };
  const under = nodeUnderTest({ cluster: { ...withoutCluster, exists: true, clients: doors } });
  const { pod } = capability(under.node);
  const reasonFor = async (disk: string, source: string): Promise<string | undefined> => {
    const asking = aPod('web', { nodeSelector: { disk } }, { annotations: { 'kubernetes.io/config.source': source } });
    return (await pod?.admit?.(asking, new NodeUse(), new AbortController().signal))?.reason;
  };
  assert.equal(await reasonFor('ssd', 'api'), undefined);
  assert.equal(await reasonFor('hdd', 'api'), 'NodeAffinity');
  assert.equal(api.calls('heartbeat').length, 2);
  assert.equal(await reasonFor('ssd', 'file'), 'NodeAffinity');
  assert.equal(api.calls('heartbeat').length, 2);
  api.remove(path);
  assert.equal(await reasonFor('ssd', 'api'), 'NodeAffinity', 'it cannot be had');
});

const stored = (api: FakeKubeApi): Node | undefined => api.stored(path);

const isReady = ({ status }: { readonly status?: Node['status'] | undefined }): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
