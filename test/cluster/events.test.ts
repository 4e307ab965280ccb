import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { type ApiEvents, apiEvents } from '../../src/cluster/events/api-events.ts';
import type { KubeEvent } from '../../src/model/kube-event.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import { nodeReference } from '../../src/model/object-reference.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { KubeApi } from '../../src/ports/kube-api.ts';
import { connectAs } from '../builders/clients-under-test.ts';
import { controlPlane, kubeconfigOf, kubectl } from '../builders/cluster-under-test.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

const namespace = `events-${randomUUID().slice(0, 8)}`;
const nodeName = `${namespace}-node`;
const stop = new AbortController();
const log = new RecordingLogger();
const clients: OwnedKubeClients[] = [];
let events: ApiEvents;
let sent: Sent;
let sinkDone: Promise<void>;
let pod: Pod;

/** Passes requests on, and lets a test wait until so many have been answered, well or badly. */
class Sent implements Pick<KubeApi, 'request'> {
  readonly methods: string[] = [];
  readonly #api: KubeApi;
  #woken = Promise.withResolvers<void>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  async request<T>(...[request, signal]: Parameters<KubeApi['request']>): Promise<T> {
    try {
      return await this.#api.request<T>(request, signal);
    } finally {
      this.methods.push(request.method);
      this.#woken.resolve();
      this.#woken = Promise.withResolvers();
    }
  }

  /** What was sent since the last call, once it is that many. */
  async next(count: number): Promise<readonly string[]> {
    while (this.methods.length < count) await this.#woken.promise;
    return this.methods.splice(0);
  }
}

async function connect(user: 'admin' | 'node'): Promise<OwnedKubeClients> {
  const made = await connectAs(kubeconfigOf(user));
  clients.push(made);
  return made;
}

async function stored(uid: string, space = namespace): Promise<readonly KubeEvent[]> {
  const list: { items: readonly KubeEvent[] } = JSON.parse(
    await kubectl('get', 'events', '-n', space, '--field-selector', `involvedObject.uid=${uid}`, '-o', 'json'),
  );
  return list.items;
}

before(async () => {
  await kubectl('create', 'namespace', namespace);
  const spec = {
    schedulerName: 'nobody',
    containers: [{ name: 'app', image: 'busybox:1.35' }],
    initContainers: [{ name: 'setup', image: 'busybox:1.35' }],
  };
  // For no scheduler, so that no node takes it.
  await kubectl('run', 'web', '-n', namespace, '--image=busybox:1.35', `--overrides=${JSON.stringify({ spec })}`);
  pod = JSON.parse(await kubectl('get', 'pod', 'web', '-n', namespace, '-o', 'json')) as Pod;
  sent = new Sent((await connect('node')).events);
  events = apiEvents({ clock: systemClock, log, api: sent, nodeName, random: () => 0 });
  sinkDone = events.sink.run(stop.signal);
});

after(async () => {
  stop.abort();
  await sinkDone;
  await Promise.all(clients.map((each) => each.close()));
  await kubectl('delete', 'namespace', namespace, '--wait=false');
  await kubectl('delete', 'events', '-n', 'default', '--field-selector', `involvedObject.uid=${nodeName}`);
});

test("a container's events are shown by kubectl describe, with what they are about", async () => {
  events.recorder.record(pod, 'Normal', 'Pulled', 'Container image "busybox:1.35" already present on machine', 'setup');
  events.recorder.record(pod, 'Normal', 'Started', 'Started container app', 'app');
  assert.deepEqual(await sent.next(2), ['POST', 'POST']);
  const described = await kubectl('describe', 'pod', 'web', '-n', namespace);
  assert.match(described, /Normal +Pulled +\S+ +kubelet +Container image "busybox:1.35" already present on machine/);
  assert.match(described, /Normal +Started +\S+ +kubelet +Started container app/);
  const found = await stored(pod.metadata.uid);
  assert.deepEqual(
    found.map(({ reason, involvedObject, source }) => [reason, involvedObject.fieldPath, source]),
    [
      ['Pulled', 'spec.initContainers{setup}', { component: 'kubelet', host: nodeName }],
      ['Started', 'spec.containers{app}', { component: 'kubelet', host: nodeName }],
    ],
  );
});

test('repeats are one event with a count, and an event that is gone comes back with its count', async () => {
  const backOff = (): void => events.recorder.record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', 'app');
  backOff();
  backOff();
  backOff();
  assert.deepEqual(await sent.next(3), ['POST', 'PATCH', 'PATCH']);
  const counts = async (): Promise<unknown> =>
    (await stored(pod.metadata.uid)).filter(({ reason }) => reason === 'BackOff').map(({ count }) => count);
  assert.deepEqual(await counts(), [3]);
  await kubectl('delete', 'events', '-n', namespace, '--all');
  backOff();
  assert.deepEqual(await sent.next(2), ['PATCH', 'POST']);
  assert.deepEqual(await counts(), [4]);
});

test("a node's events are found by the node's name, in the default namespace", async () => {
  events.recorder.record(nodeReference(nodeName), 'Normal', 'Starting', 'Starting kubelet.');
  await sent.next(1);
  assert.deepEqual(
    (await stored(nodeName, 'default')).map(({ reason, message }) => [reason, message]),
    [['Starting', 'Starting kubelet.']],
  );
});

test('an event for a namespace that is going is dropped without a word, and the next one is sent', async () => {
  const going = `${namespace}-going`;
  await kubectl('create', 'namespace', going);
  // Held by a finalizer, so that it is going for as long as the test needs.
  await kubectl('create', 'configmap', 'held', '-n', going);
  await kubectl('patch', 'configmap', 'held', '-n', going, '--type=merge', '-p', '{"metadata":{"finalizers":["rxlet.test/held"]}}');
  await kubectl('delete', 'namespace', going, '--wait=false');
  events.recorder.record({ ...pod, metadata: { ...pod.metadata, namespace: going } }, 'Normal', 'Killing', 'Stopping container app', 'app');
  events.recorder.record(pod, 'Normal', 'Killing', 'Stopping container app', 'app');
  assert.deepEqual(await sent.next(2), ['POST', 'POST']);
  assert.deepEqual(log.lines, []);
  assert.deepEqual(
    (await stored(pod.metadata.uid)).filter(({ reason }) => reason === 'Killing').map(({ count }) => count),
    [1],
  );
  await kubectl('patch', 'configmap', 'held', '-n', going, '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
});

test('what happens while the API server is away is told when it is back', async () => {
  await controlPlane('stop', 'apiserver');
  for (const reason of ['Unhealthy', 'FailedMount'] as const) events.recorder.record(pod, 'Warning', reason, 'm');
  try {
    assert.deepEqual(await sent.next(2), ['POST', 'POST'], 'two tries of the first');
  } finally {
    await controlPlane('start', 'apiserver');
  }
  assert.deepEqual(await sent.next(2), ['POST', 'POST']);
  const reasons = (await stored(pod.metadata.uid)).map(({ reason }) => reason);
  assert.deepEqual([reasons.includes('Unhealthy'), reasons.includes('FailedMount')], [true, true]);
});
