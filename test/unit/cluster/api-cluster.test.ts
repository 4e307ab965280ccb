import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { firstValueFrom, filter } from 'rxjs';
import type { LiveValue } from '../../../src/base/live.ts';
import { nodeReference } from '../../../src/model/object-reference.ts';
import type { LiveOptions } from '../../../src/options/kubelet-options.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';
import type { ApiRequest } from '../../../src/ports/kube-api.ts';
import { aCa } from '../../builders/a-pki.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nothingGiven } from '../../builders/node-parts.ts';
import { someLive } from '../../builders/some-options.ts';
import { aCluster } from './a-cluster.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordedHappenings } from '../../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { ScriptedApiServer, type ScriptedRequest } from '../../fakes/scripted-api-server.ts';

const ca = aCa();
const serverPair = ca.issue({ commonName: 'api', hosts: ['127.0.0.1'] });
const never = new AbortController().signal;

let directory: string;
let kubeconfig: string;
let clock: FakeClock;
let log: RecordingLogger;
let happenings: RecordedHappenings;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-api-cluster-'));
  kubeconfig = join(directory, 'kubelet.conf');
  clock = new FakeClock();
  clock.frame = Date.now();
  log = new RecordingLogger();
  happenings = new RecordedHappenings();
});
afterEach(() => rm(directory, { recursive: true }));

const open = (live?: LiveValue<LiveOptions>): Promise<Cluster> =>
  aCluster({ kubeconfig, certDir: directory, nodeName: 'a' }, { clock, log, tell: happenings.tell, ...(live && { live }) });

test('a kubeconfig that cannot work is refused at once, in words for people', async () => {
  await assert.rejects(open(), { message: `kubeconfig ${kubeconfig} does not exist` });
  await writeFile(kubeconfig, 'clusters: 1');
  await assert.rejects(open(), new RegExp(`^KubeconfigError: kubeconfig ${kubeconfig}`));
});

describe('with an API server', () => {
  let server: ScriptedApiServer;
  let cluster: Cluster;
  let stop: AbortController;
  let running: Promise<unknown>;
  beforeEach(async () => {
    server = await ScriptedApiServer.start(serverPair);
    await writeFile(kubeconfig, kubeconfigFor(server.url));
    cluster = await open();
    stop = new AbortController();
    running = Promise.resolve();
  });
  afterEach(async () => {
    stop.abort(new Error('the test is over'));
    await running;
    await server.stop();
    assert.deepEqual(
      clock.actions.filter(({ closed }) => !closed),
      [],
      'no timer is left',
    );
  });
  const start = (): void => {
    running = Promise.allSettled(cluster.services.map((service) => service.run(stop.signal, nothingGiven)));
  };
  /** The credentials are asked about first. */
  const letIn = async (): Promise<void> => {
    const check = await server.next();
    assert.deepEqual([check.method, check.path], ['GET', '/api/v1/nodes/a']);
    check.answer(404, { kind: 'Status', code: 404, reason: 'NotFound' });
  };
  const nextOf = async (method: string, path: string): Promise<ScriptedRequest> => {
    for (;;) {
      const request = await server.next();
      if (request.method === method && request.path === path) return request;
    }
  };

  test('opening starts nothing; its services belong to the first stage', async () => {
    assert.deepEqual([cluster.exists, server.connections, clock.actions], [true, 0, []]);
    assert.deepEqual(
      cluster.services.map(({ name, stage }) => `${stage}: ${name}`),
      ['credentials: client certificate', 'credentials: events', 'credentials: node informer'],
    );
    assert.deepEqual([cluster.node(), cluster.apiPods.synced], [undefined, false]);
    assert.deepEqual(
      cluster.sources.map(({ name }) => name),
      ['api'],
    );
  });

  test('its node is known while its services run, also to who asks later', async () => {
    start();
    await letIn();
    const list = await nextOf('GET', '/api/v1/nodes');
    assert.equal(list.query['fieldSelector'], 'metadata.name=a');
    const known = firstValueFrom(cluster.nodeChanges.pipe(filter((node) => node !== undefined)));
    list.answer(200, { metadata: { resourceVersion: '5' }, items: [aNode('4')] });
    assert.equal((await known)?.metadata?.name, 'a');
    assert.equal(cluster.node(), await known);
    assert.deepEqual(await firstValueFrom(cluster.nodes), { kind: 'reset', items: [cluster.node()] });
    const watch = await nextOf('GET', '/api/v1/nodes');
    watch.begin();
    const gone = firstValueFrom(cluster.nodeChanges.pipe(filter((node) => node === undefined)));
    watch.write(`${JSON.stringify({ type: 'DELETED', object: aNode('6') })}\n`);
    await gone;
    assert.equal(cluster.node(), undefined);
  });

  test('requests are told with their answers, and how long they waited', async () => {
    start();
    await letIn();
    (await nextOf('GET', '/api/v1/nodes')).answer(200, { metadata: { resourceVersion: '5' }, items: [] });
    await nextOf('GET', '/api/v1/nodes');
    const [first, second] = happenings.of('apiRequested');
    assert.deepEqual([first?.status, second?.status, first?.server], [404, 200, server.url]);
    assert.equal(happenings.of('apiRequestWaited').length >= 2, true);
  });

  test('recorded events are sent; those about a pod that has ended are not remembered', async () => {
    const pod = aPod('p');
    const record = (): void => cluster.recorder.record(pod, 'Normal', 'Started', 'Started container');
    start();
    await letIn();
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/events`;
    const sent: string[] = [];
    const next = async (): Promise<void> => {
      const request = server.next();
      await clock.advance(500);
      const event = await request;
      sent.push(`${event.method} ${event.path.startsWith(path) ? 'event' : event.path}`);
      event.answer(200, {});
    };
    (await nextOf('GET', '/api/v1/nodes')).answer(200, { metadata: { resourceVersion: '5' }, items: [] });
    await nextOf('GET', '/api/v1/nodes');
    record();
    await next();
    record();
    await next();
    cluster.listener.podEnded?.({ uid: pod.metadata.uid, freeName: undefined });
    record();
    await next();
    assert.deepEqual(sent, ['POST event', 'PATCH event', 'POST event']);
  });

  for (const [door, burst, qps, limits] of [
    ['main', '--kube-api-burst', '--kube-api-qps', { kubeApiBurst: 3, kubeApiQps: 2 }],
    ['events', '--event-burst', '--event-qps', { eventBurst: 3, eventQps: 2 }],
  ] as const)
    test(`${burst} requests at once, then ${qps} a second, also once both have changed`, async () => {
      const live = someLive({ kubeApiBurst: 100, eventBurst: 100, ...limits });
      cluster = await open(live);
      start();
      await letIn();
      (await nextOf('GET', '/api/v1/nodes')).answer(200, { metadata: { resourceVersion: '5' }, items: [] });
      await nextOf('GET', '/api/v1/nodes');
      // What following the node has taken is there again.
      await clock.advance(10_000);
      const waits = async (count: number): Promise<readonly number[]> => {
        const before = happenings.of('apiRequestWaited').length;
        const asked = Array.from({ length: count }, () => cluster.clients[door].request({ method: 'GET', path: '/limited' }, never));
        const all = clock.until(Promise.all(asked), 100);
        for (let answered = 0; answered < count; answered++) (await nextOf('GET', '/limited')).answer(200, {});
        await all;
        return happenings
          .of('apiRequestWaited')
          .slice(before)
          .map(({ waitedMs }) => waitedMs);
      };
      assert.deepEqual(await waits(5), [0, 0, 0, 500, 1000]);
      live.set({ ...live.now, ...(door === 'main' ? { kubeApiBurst: 1, kubeApiQps: 10 } : { eventBurst: 1, eventQps: 10 }) });
      await clock.advance(10_000);
      assert.deepEqual(await waits(3), [0, 100, 200]);
    });

  test('events about the node are taken before its services run', () => {
    cluster.recorder.record(nodeReference('a'), 'Normal', 'Starting', 'Starting kubelet.');
    assert.deepEqual([server.connections, log.lines], [0, []]);
  });

  test('a request waits for the credentials beyond its own deadline, is sent when they are there, and can be given up', async () => {
    const request: ApiRequest = { method: 'GET', path: '/api/v1/services', timeoutMs: 1000 };
    const waiting = cluster.clients.main.request(request, never);
    const givenUp = new AbortController();
    const rejected = assert.rejects(cluster.clients.main.request(request, givenUp.signal), { message: 'given up' });
    await clock.advance(60_000);
    givenUp.abort(new Error('given up'));
    await rejected;
    start();
    await letIn();
    (await nextOf('GET', request.path)).answer(200, { items: [] });
    assert.deepEqual(await waiting, { items: [] });
  });

  test('a request waits for the credentials, and fails with them', async () => {
    const request = cluster.clients.main.request({ method: 'GET', path: '/api/v1/services' }, never);
    const failed = assert.rejects(request);
    start();
    (await server.next()).answer(401, { kind: 'Status', code: 401, reason: 'Unauthorized' });
    await failed;
    assert.deepEqual(server.seen.includes('GET /api/v1/services'), false);
  });
});

const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': Buffer.from(ca.pem).toString('base64') } }],
    contexts: [{ name: 'main', context: { cluster: 'lab', user: 'node' } }],
    'current-context': 'main',
    users: [{ name: 'node', user: { token: 't' } }],
  });

const aNode = (resourceVersion: string): unknown => ({ metadata: { name: 'a', uid: '1', resourceVersion } });
