import assert from 'node:assert/strict';
import { test } from 'node:test';
import { map, Subject } from 'rxjs';
import { isJsonObject } from '../../../src/base/json-object.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import type { Node } from '../../../src/model/node.ts';
import type { ProvidedResources } from '../../../src/ports/this-node.ts';
import type { GivenCondition, NodeErrors } from '../../../src/node/node-conditions.ts';
import { NodeStatusReporter, type NodeStatusReporterDeps } from '../../../src/node/node-status-reporter.ts';
import type { ResourceEvent, WatchedObject } from '../../../src/ports/kube-api.ts';
import { someNodeFacts } from '../../builders/node-facts.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { FakeKubeApi, refusals } from '../../fakes/fake-kube-api.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const path = '/api/v1/nodes/n1';

class World {
  readonly clock = new FakeClock();
  readonly api = new FakeKubeApi({ now: () => this.clock.now() });
  readonly log = new RecordingLogger();
  readonly wakes = new Subject<void>();
  readonly events: string[] = [];
  errors: NodeErrors = [];
  conditions: readonly GivenCondition[] = [];
  volumesInUse: readonly string[] | undefined;
  provided: ProvidedResources = { capacity: {}, allocatable: {} };
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  start(changes: Partial<NodeStatusReporterDeps> = {}): NodeStatusReporter {
    const reporter = new NodeStatusReporter({
      clock: this.clock,
      log: this.log,
      api: this.api.door('heartbeat'),
      nodeName: 'n1',
      initial: { metadata: { name: 'n1' } },
      facts: async () =>
        someNodeFacts({
          nowMs: this.clock.now(),
          conditions: this.conditions,
          volumesInUse: this.volumesInUse,
          readiness: { errors: this.errors },
          devices: { ...this.provided, removed: [] },
        }),
      errors: () => this.errors,
      conditions: () => this.conditions,
      volumesInUse: () => this.volumesInUse,
      provided: () => this.provided,
      wakes: this.wakes,
      nodes: this.api
        .informer<WatchedObject & Node>({ path: '/api/v1/nodes', fieldSelector: 'metadata.name=n1' })
        .pipe(map((event): ResourceEvent<Node> => event)),
      record: ({ reason }) => this.events.push(reason),
      frequencies: () => ({ updateMs: 10_000, reportMs: 300_000 }),
      random: () => 0,
      ...changes,
    });
    this.#running = reporter.run(this.#stop.signal);
    return reporter;
  }

  /** Ready's status as stored. */
  get ready(): string | undefined {
    const status = this.api.stored(path)?.['status'] as Node['status'] | undefined;
    return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    assert.equal(this.clock.actions.length, 0);
    assert.equal(this.wakes.observed, false);
  }
}

test('a new node is there with its whole status after one request, and quiet until the next report', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(0);
  assert.equal(world.ready, 'True');
  assert.deepEqual(world.events, ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady']);
  await world.clock.advance(299_000);
  assert.deepEqual(world.api.calls(), ['POST /api/v1/nodes']);
  await world.clock.advance(11_000);
  assert.deepEqual(world.api.calls(), ['POST /api/v1/nodes', `PATCH ${path}/status`]);
  await world.stop();
});

test('what the API server drops because it does not know it is sent with each report only, until it knows it', async () => {
  const world = new World();
  let knows = false;
  const door = world.api.door('heartbeat');
  const forget = (body: unknown): unknown => {
    if (knows || !isJsonObject(body) || !isJsonObject(body['status'])) return body;
    const { runtimeHandlers: _, declaredFeatures: __, ...status } = body['status'];
    return { ...body, status };
  };
  const facts = someNodeFacts();
  world.start({
    api: { ...door, request: (request, signal) => door.request({ ...request, body: forget(request.body) }, signal) },
    facts: async () => ({
      ...facts,
      nowMs: world.clock.now(),
      engineFeatures: {
        handlers: [{ name: 'x', recursiveReadOnly: true, userNamespaces: false }],
        supplementalGroupsPolicy: true,
        imageVolumes: 'never',
      },
      declaredFeatures: ['ExtendWebSocketsToKubelet'],
    }),
  });
  const stored = (): Node['status'] => world.api.stored(path)?.['status'] as Node['status'];
  await world.clock.advance(0);
  await world.clock.advance(299_000);
  assert.deepEqual(world.api.calls(), ['POST /api/v1/nodes']);
  assert.deepEqual([stored()?.features, stored()?.runtimeHandlers], [{ supplementalGroupsPolicy: true }, undefined]);
  await world.clock.advance(11_000);
  await world.clock.advance(280_000);
  assert.equal(world.api.calls().length, 2);
  knows = true;
  await world.clock.advance(30_000);
  assert.equal(world.api.calls().length, 3);
  assert.deepEqual(stored()?.declaredFeatures, ['ExtendWebSocketsToKubelet']);
  assert.equal(stored()?.runtimeHandlers?.[0]?.name, 'x');
  await world.stop();
});

test('a volume that comes into use is sent at once, and that it is so no longer; that none is costs nothing', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(0);
  const become = async (volumes: readonly string[]): Promise<unknown> => {
    world.volumesInUse = volumes;
    world.wakes.next();
    await world.clock.advance(200);
    return (world.api.stored(path)?.['status'] as Node['status'] | undefined)?.volumesInUse;
  };
  const { length } = world.api.requests;
  assert.equal(await become([]), undefined);
  assert.equal(world.api.requests.length, length);
  assert.deepEqual(await become(['a']), ['a']);
  assert.deepEqual((await become([])) ?? [], []);
  await world.stop();
});

test('a change of a condition is sent at once, with its event', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(0);
  world.conditions = [{ type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure', message: 'kubelet has disk pressure' }];
  world.wakes.next();
  await world.clock.advance(100);
  const status = world.api.stored(path)?.['status'] as Node['status'] | undefined;
  assert.equal(status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status, 'True');
  assert.equal(world.events.at(-1), 'NodeHasDiskPressure');
  await world.stop();
});

test('devices of a plugin are in the status within a second', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(1_000);
  for (const count of ['1', '2', '3']) {
    world.provided = { capacity: { 'example.com/gpu': count }, allocatable: { 'example.com/gpu': '1' } };
    world.wakes.next();
  }
  await world.clock.advance(1_000);
  const { capacity, allocatable } = (world.api.stored(path)?.['status'] as Node['status']) ?? {};
  assert.deepEqual([capacity?.['example.com/gpu'], allocatable?.['example.com/gpu']], ['3', '1']);
  assert.equal(world.api.calls().length, 2);
  await world.stop();
});

test('a change of readiness is sent at once, with its event; wakes that change nothing cost nothing', async () => {
  const world = new World();
  world.errors = ['starting'];
  world.start();
  await world.clock.advance(0);
  assert.equal(world.ready, 'False');
  world.errors = [];
  for (let i = 0; i < 5; i++) world.wakes.next();
  await world.clock.advance(100);
  assert.equal(world.ready, 'True');
  assert.deepEqual(world.api.calls(), ['POST /api/v1/nodes', `PATCH ${path}/status`]);
  world.wakes.next();
  await world.clock.advance(1_000);
  assert.equal(world.api.requests.length, 2);
  world.errors = ['PLEG is not healthy: pleg was last seen active 3m0s ago; threshold is 3m0s'];
  world.wakes.next();
  await world.clock.advance(100);
  assert.equal(world.ready, 'False');
  assert.deepEqual(world.events, ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady', 'NodeNotReady']);
  await world.stop();
});

test('an existing node is adopted and told its status', async () => {
  const world = new World();
  world.api.put(path, { metadata: { labels: { role: 'x' } }, spec: { unschedulable: true } });
  world.start();
  await world.clock.advance(0);
  assert.equal(world.ready, 'True');
  assert.ok(world.events.includes('NodeNotSchedulable'));
  world.api.put(path, { ...world.api.stored(path), spec: {} });
  await world.clock.advance(0);
  assert.equal(world.events.at(-1), 'NodeSchedulable');
  await world.stop();
});

test('registration is tried again after 100 ms, doubled up to 7 s, and its refusal is explained once', async () => {
  const world = new World();
  const refusal = new ApiError(403, 'Forbidden', 'nodes "n1" is forbidden: node "n2" is not allowed to modify node "n1"');
  const back = world.api.intercept(() => {
    throw refusal;
  });
  const tries = (): number => world.api.calls().filter((call) => call.startsWith('POST')).length;
  world.start();
  const seen: number[] = [];
  for (const ms of [0, 100, 200, 400, 800, 1600, 3200, 6400, 7000, 7000]) {
    await world.clock.advance(ms);
    seen.push(tries());
  }
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  const told = world.log.lines.filter(({ level }) => level === 'error');
  assert.equal(told.length, 1);
  assert.match(String(told[0]?.fields['remedy']), /belongs to node "n2"/);
  back();
  await world.clock.advance(7_000);
  assert.equal(world.ready, 'True');
  await world.stop();
});

test('a status that cannot be sent is tried five times at once, with new connections, then with back-off', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(0);
  const back = world.api.intercept(() => {
    throw refusals.internal();
  });
  world.errors = ['down'];
  world.wakes.next();
  await world.clock.advance(100);
  assert.equal(world.api.requests.length, 1 + 5);
  assert.equal(world.api.closed('heartbeat'), 3);
  await world.clock.advance(1_000);
  assert.equal(world.api.requests.length, 1 + 10);
  await world.clock.advance(120_000);
  assert.equal(world.log.lines.filter(({ level }) => level === 'error').length, 1);
  back();
  await world.clock.advance(10_000);
  assert.equal(world.ready, 'False');
  assert.equal(world.log.count('node status sent again'), 1);
  await world.stop();
});

test('a conflict or a stale view is read anew', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(0);
  world.api.refuse('PATCH', '/status', refusals.conflict());
  world.errors = ['s'];
  world.wakes.next();
  await world.clock.advance(100);
  assert.deepEqual(world.api.calls().slice(1), [`PATCH ${path}/status`, `GET ${path}`, `PATCH ${path}/status`]);
  assert.equal(world.ready, 'False');
  await world.stop();
});

test('a status that somebody else changed, as the node controller does, is put right within a second', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(5_000);
  const stored = world.api.stored(path);
  const unknown = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' };
  world.api.put(path, { ...stored, status: { ...(stored?.['status'] as object), conditions: [unknown] } });
  assert.equal(world.ready, 'Unknown');
  await world.clock.advance(1_000);
  assert.equal(world.ready, 'True');
  assert.equal(world.events.at(-1), 'NodeReady');
  await world.stop();
});

test('a deleted node is not made again, which is told; made again by another it gets its status', async () => {
  const world = new World();
  world.start();
  await world.clock.advance(0);
  world.api.remove(path);
  await world.clock.advance(30_000);
  assert.equal(world.api.stored(path), undefined);
  const [told, ...more] = world.log.lines.filter(({ level }) => level === 'error');
  assert.match(String(told?.fields['remedy']), /restart the agent/);
  assert.equal(more.length, 0);
  world.api.put(path, {});
  await world.clock.advance(10_000);
  assert.equal(world.ready, 'True');
  await world.stop();
});

test('with --register-node=false a node is waited for', async () => {
  const world = new World();
  world.start({ initial: undefined });
  await world.clock.advance(20_000);
  assert.equal(world.api.calls().includes('POST /api/v1/nodes'), false);
  assert.match(String(world.log.lines.find(({ level }) => level === 'error')?.fields['remedy']), /--register-node=true/);
  world.api.put(path, {});
  await world.clock.advance(10_000);
  assert.equal(world.ready, 'True');
  await world.stop();
});

test('an informer that lags behind our own writes causes no request', async () => {
  const world = new World();
  const nodes = new Subject<ResourceEvent<Node>>();
  world.errors = ['starting'];
  world.start({ nodes });
  await world.clock.advance(0);
  const old = world.api.stored(path) as Node;
  world.errors = [];
  world.wakes.next();
  await world.clock.advance(100);
  nodes.next({ kind: 'put', item: old });
  await world.clock.advance(20_000);
  assert.equal(world.api.requests.length, 2);
  await world.stop();
});

test('a reporter whose informer breaks ends with its error', async () => {
  const world = new World();
  const nodes = new Subject<ResourceEvent<Node>>();
  const reporter = world.start({ nodes });
  assert.ok(reporter);
  await world.clock.advance(0);
  nodes.error(new Error('broken'));
  await assert.rejects(world.stop(), { message: 'broken' });
  assert.equal(world.clock.actions.length, 0);
});
