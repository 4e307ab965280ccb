import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Subscription } from 'rxjs';
import { systemClock } from '../../../../src/base/clock.ts';
import { fixedCredentials } from '../../../../src/cluster/kube/cluster-access.ts';
import type { KubeClientsOptions, OwnedKubeClients } from '../../../../src/cluster/kube/kube-clients.ts';
import type { ResourceEvent, WatchedObject, WatchTarget } from '../../../../src/ports/kube-api.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { clientsFor } from '../../../builders/clients-under-test.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { ScriptedApiServer, type ScriptedRequest } from '../../../fakes/scripted-api-server.ts';
import { TcpProxy } from '../../../fakes/tcp-proxy.ts';

const ca = aCa();
const serverPair = ca.issue({ commonName: 'api', hosts: ['127.0.0.1'] });
const never = new AbortController().signal;
const pods: WatchTarget = { path: '/api/v1/pods', fieldSelector: 'spec.nodeName=a' };

let server: ScriptedApiServer;
let clock: FakeClock;
let log: RecordingLogger;
let clients: OwnedKubeClients;
/** What was told: "reset a/1 b/2", "put a/1", with uids. */
let told: string[];
let subscription: Subscription;
beforeEach(async () => {
  server = await ScriptedApiServer.start(serverPair);
  clock = new FakeClock();
  log = new RecordingLogger();
  clients = clientsOn({ clock });
  told = [];
});
afterEach(async () => {
  subscription.unsubscribe();
  await clients.close();
  await server.stop();
  await settled();
  assert.deepEqual(
    clock.actions.filter(({ closed }) => !closed),
    [],
    'no timer is left',
  );
});

function clientsOn(over: Partial<KubeClientsOptions>, url = server.url): OwnedKubeClients {
  const access = { server: url, caPem: ca.pem, credentials: fixedCredentials({}), origin: 'kubeconfig k' };
  return clientsFor(access, { clock, log, ...over });
}

function follow(target: WatchTarget = pods): void {
  subscription = clients.informer(target).subscribe((event) => told.push(textOf(event)));
}

const named = ({ metadata }: WatchedObject): string => `${metadata.name}/${metadata.uid}`;
const textOf = (event: ResourceEvent<WatchedObject>): string =>
  event.kind === 'reset' ? ['reset', ...event.items.map(named)].join(' ') : `${event.kind} ${named(event.item)}`;
const object = (name: string, uid: string, resourceVersion: string): WatchedObject => ({ metadata: { name, uid, resourceVersion } });
const list = (resourceVersion: string, ...items: readonly WatchedObject[]): unknown => ({ metadata: { resourceVersion }, items });
const line = (type: string, item: unknown): string => `${JSON.stringify({ type, object: item })}\n`;
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

/** Lets what is under way on loopback arrive. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 30; turns++) await new Promise((done) => setImmediate(done));
}

async function until(fits: () => boolean): Promise<void> {
  while (!fits()) await new Promise((done) => setImmediate(done));
}

/** Answers the first list, and resolves with the watch, begun. */
async function watching(resourceVersion = '5', ...items: readonly WatchedObject[]): Promise<ScriptedRequest> {
  (await server.next()).answer(200, list(resourceVersion, ...items));
  const watch = await server.next();
  watch.begin();
  await settled();
  return watch;
}

/** The next request, letting time pass for it. */
async function nextWithin(ms: number): Promise<ScriptedRequest> {
  const request = server.next();
  for (let passed = 0; passed < ms && !(await arrived(request)); passed += 100) await clock.advance(100);
  assert(await arrived(request), `no request within ${ms} ms`);
  return request;
}

async function arrived(request: Promise<unknown>): Promise<boolean> {
  return Promise.race([request.then(() => true), settled().then(() => false)]);
}

test('a collection is listed from what is at hand, and watched from there', async () => {
  follow();
  const first = await server.next();
  assert.deepEqual([first.path, first.query], ['/api/v1/pods', { fieldSelector: 'spec.nodeName=a', resourceVersion: '0', limit: '500' }]);
  first.answer(200, list('5', object('a', '1', '3')));
  const watch = await server.next();
  const { timeoutSeconds, ...query } = watch.query;
  assert.deepEqual(query, { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '5', fieldSelector: 'spec.nodeName=a' });
  assert(Number(timeoutSeconds) >= 300 && Number(timeoutSeconds) <= 600, timeoutSeconds);
  watch.begin();
  watch.write(line('ADDED', object('b', '2', '6')) + line('MODIFIED', object('a', '1', '7')) + line('DELETED', object('b', '2', '8')));
  await until(() => told.length === 4);
  assert.deepEqual(told, ['reset a/1', 'put b/2', 'put a/1', 'drop b/2']);
});

test('an empty collection is told, too', async () => {
  follow();
  (await server.next()).answer(200, { metadata: { resourceVersion: '1' }, items: null });
  await server.next();
  assert.deepEqual(told, ['reset']);
});

test('events may come in any pieces', async () => {
  follow();
  const watch = await watching();
  const bytes = Buffer.from(line('ADDED', object('ä', '1', '6')) + line('ADDED', object('b', '2', '7')));
  for (const byte of bytes) {
    watch.write(Buffer.of(byte));
    await new Promise((done) => setImmediate(done));
  }
  await until(() => told.length === 3);
  assert.deepEqual(told, ['reset', 'put ä/1', 'put b/2']);
});

describe('a list of many pages', () => {
  test('is one set, of the first page’s version', async () => {
    follow();
    (await server.next()).answer(200, { metadata: { resourceVersion: '9', continue: 'c1' }, items: [object('a', '1', '1')] });
    const second = await server.next();
    assert.deepEqual(second.query, { fieldSelector: 'spec.nodeName=a', limit: '500', continue: 'c1' });
    second.answer(200, list('12', object('b', '2', '2')));
    const watch = await server.next();
    assert.equal(watch.query['resourceVersion'], '9');
    assert.deepEqual(told, ['reset a/1 b/2']);
  });

  test('is asked for whole when a page has expired', async () => {
    follow();
    (await server.next()).answer(200, { metadata: { resourceVersion: '9', continue: 'c1' }, items: [object('a', '1', '1')] });
    (await server.next()).answer(410, gone);
    const whole = await server.next();
    assert.deepEqual(whole.query, { fieldSelector: 'spec.nodeName=a' });
    whole.answer(200, list('12', object('b', '2', '2')));
    assert.equal((await server.next()).query['resourceVersion'], '12');
    assert.deepEqual(told, ['reset b/2']);
  });
});

describe('the next watch goes on after what was told:', () => {
  for (const [name, write, version] of [
    ['an event', line('ADDED', object('a', '1', '6')), '6'],
    ['a bookmark, which is told to nobody', line('BOOKMARK', { metadata: { resourceVersion: '77' } }), '77'],
    ['half an event, which is none', line('ADDED', object('a', '1', '6')).slice(0, -5), '5'],
  ] as const) {
    test(name, async () => {
      follow();
      const watch = await watching();
      watch.write(write);
      await settled();
      await clock.advance(6_000);
      watch.end();
      const next = await nextWithin(2_000);
      assert.deepEqual([next.query['watch'], next.query['resourceVersion']], ['true', version]);
      next.begin();
      next.write(line('ADDED', object('z', '9', '99')));
      await until(() => told.at(-1) === 'put z/9');
      assert.equal(told.filter((event) => event.startsWith('reset')).length, 1);
    });
  }
});

describe('what the server has forgotten is listed anew, not older than before:', () => {
  for (const [name, tell] of [
    ['by the answer', (watch: ScriptedRequest) => watch.answer(410, gone)],
    [
      'by an event',
      (watch: ScriptedRequest) => {
        watch.begin();
        watch.write(line('ERROR', gone));
      },
    ],
  ] as const) {
    test(name, async () => {
      follow();
      (await server.next()).answer(200, list('5', object('a', '1', '3')));
      tell(await server.next());
      const relist = await nextWithin(100);
      assert.deepEqual(relist.query, { fieldSelector: 'spec.nodeName=a', resourceVersion: '5' });
      relist.answer(200, list('20', object('a', '2', '18')));
      await server.next();
      assert.deepEqual(told, ['reset a/1', 'reset a/2'], 'deleted and made again: another uid');
    });
  }

  test('from etcd, when even that is too old', async () => {
    follow();
    (await server.next()).answer(200, list('5'));
    (await server.next()).answer(410, gone);
    (await nextWithin(100)).answer(410, gone);
    const latest = await nextWithin(4_000);
    assert.deepEqual(latest.query, { fieldSelector: 'spec.nodeName=a', limit: '500' });
  });

  test('from etcd, when the server’s storage is older than what was seen', async () => {
    follow();
    (await server.next()).answer(200, list('5'));
    (await server.next()).answer(410, gone);
    (await nextWithin(100)).answer(504, { kind: 'Status', reason: 'Timeout', message: 'Too large resource version: 5, current: 2' });
    assert.deepEqual((await nextWithin(4_000)).query, { fieldSelector: 'spec.nodeName=a', limit: '500' });
  });

  test('not in a tight loop', async () => {
    follow();
    let requests = 0;
    for (; requests < 12; requests += 2) {
      (await nextWithin(70_000)).answer(200, list('5'));
      (await nextWithin(70_000)).answer(410, gone);
    }
    assert(clock.now() >= 800 * (1 + 2 + 4 + 8), String(clock.now()));
  });
});

test('an event that cannot be read makes everything be listed again', async () => {
  follow();
  const watch = await watching();
  watch.write('{"type":"ADDED","object":{"meta\n');
  assert.equal((await nextWithin(2_000)).query['resourceVersion'], '5');
  assert.equal(log.lines.at(-1)?.message, 'list or watch failed, retrying');
});

test('a refusal is logged and tried again, more and more seldom', async () => {
  follow();
  const atMs: number[] = [];
  for (let tries = 0; tries < 5; tries++) {
    (await nextWithin(70_000)).answer(403, { kind: 'Status', reason: 'Forbidden', message: 'pods is forbidden' });
    await settled();
    atMs.push(clock.now());
  }
  const waits = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
  for (const [index, wait] of waits.entries()) assert(wait >= 800 * 2 ** index && wait <= 800 * 2 ** index * 2 + 200, String(waits));
  assert.equal(log.count('list or watch failed, retrying'), 5);
  assert.match(String(log.lines[0]?.fields['error']), /pods is forbidden/);
});

test('a watch that ends at once is no reason to hurry', async () => {
  follow();
  (await server.next()).answer(200, list('5'));
  for (let tries = 0; tries < 4; tries++) {
    const watch = await nextWithin(20_000);
    watch.begin();
    watch.end();
    await settled();
  }
  assert(clock.now() >= 800 * (1 + 2 + 4), String(clock.now()));
});

test('the server’s wish to be left alone is heeded', async () => {
  follow();
  (await server.next()).answer(200, list('5'));
  (await server.next()).answer(429, 'busy', { 'retry-after': '9' });
  await settled();
  await clock.advance(8_900);
  assert.equal(server.asked, false);
  assert.equal((await nextWithin(300)).query['watch'], 'true');
});

test('a server that wants to be left alone for days is asked again after five minutes', async () => {
  follow();
  (await server.next()).answer(200, list('5'));
  (await server.next()).answer(429, 'busy', { 'retry-after': '999999' });
  await settled();
  await clock.advance(299_000);
  assert.equal(server.asked, false);
  assert.equal((await nextWithin(2_000)).query['watch'], 'true');
});

test('as soon as anybody hears the server again, watches go on', async () => {
  follow();
  const watch = await watching();
  // Ever longer pauses, as when the server is away for a minute.
  watch.cut();
  for (let tries = 0; tries < 6; tries++) {
    (await nextWithin(60_000)).cut();
    await settled();
  }
  const beforeMs = clock.now();
  const beat = clients.heartbeat.request({ method: 'PUT', path: '/lease' }, never);
  const lease = await server.next();
  assert.equal(lease.path, '/lease');
  lease.answer(200, {});
  await beat;
  assert.equal((await nextWithin(300)).query['resourceVersion'], '5');
  assert(clock.now() - beforeMs <= 400);
});

test('what the server has forgotten while it was away for long is listed anew at once', async () => {
  follow();
  const watch = await watching();
  watch.cut();
  for (let tries = 0; tries < 6; tries++) {
    (await nextWithin(60_000)).cut();
    await settled();
  }
  (await nextWithin(60_000)).answer(410, gone);
  assert.deepEqual((await nextWithin(100)).query, { fieldSelector: 'spec.nodeName=a', resourceVersion: '5' });
});

test('whoever stops listening ends the watch', async () => {
  follow();
  const watch = await watching();
  subscription.unsubscribe();
  await watch.closed;
  await clock.advance(60_000);
  assert.equal(server.asked, false);
});

test('two listeners have a watch each', async () => {
  follow();
  await watching();
  const other = clients.informer({ path: '/api/v1/services' }).subscribe();
  assert.equal((await server.next()).path, '/api/v1/services');
  other.unsubscribe();
});

describe('a connection that goes silent without closing is dialled again', () => {
  const silence = { pingEveryMs: 20, lookEveryMs: 50, maxSilenceMs: 200, idleMs: 200 };
  for (const http2 of [true, false]) {
    test(http2 ? 'over HTTP/2: no answer to pings' : 'over HTTP/1.1: no byte', async () => {
      const own = await ScriptedApiServer.start({ ...serverPair, http2 });
      const proxy = await TcpProxy.start({ host: '127.0.0.1', port: own.port });
      const real = clientsOn({ clock: systemClock, silence }, `https://127.0.0.1:${proxy.port}`);
      const events: string[] = [];
      const listening = real.informer(pods).subscribe((event) => events.push(textOf(event)));
      (await own.next()).answer(200, list('5'));
      const watch = await own.next();
      assert.equal(watch.http2, http2);
      watch.begin();
      watch.write(line('ADDED', object('a', '1', '6')));
      await until(() => events.length === 2);
      proxy.silence();
      watch.write(line('ADDED', object('lost', '2', '7')));
      const again = await own.next();
      assert.equal(again.query['resourceVersion'], '6');
      assert.notEqual(again.connection, watch.connection);
      const errors = log.lines.map(({ fields }) => String(fields['error']));
      assert.equal(errors.length, 1);
      assert.match(errors.join(), http2 ? /silent for 0\.2 s/ : /nothing came for 0\.2 s/);
      listening.unsubscribe();
      await real.close();
      await proxy.stop();
      await own.stop();
    });
  }

  test('and one that is only quiet is left alone', async () => {
    const real = clientsOn({ clock: systemClock, silence });
    const listening = real.informer(pods).subscribe();
    (await server.next()).answer(200, list('5'));
    const watch = await server.next();
    watch.begin();
    await systemClock.sleep(800);
    assert.equal(server.asked, false);
    assert.equal(server.connections, 1);
    listening.unsubscribe();
    await real.close();
  });
});
