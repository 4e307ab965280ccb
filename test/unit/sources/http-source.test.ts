import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import type { PodSource } from '../../../src/ports/pod-source.ts';
import { httpSource, type HttpSourceDeps } from '../../../src/sources/http-source.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { imageOf, namesOf, Snapshots } from '../../builders/snapshots.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let url: string;
let answer: Answer;
let requests: IncomingMessage[];
let clock: FakeClock;
let log: RecordingLogger;
beforeEach(async () => {
  requests = [];
  answer = (_, response) => response.writeHead(404).end();
  server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
  clock = new FakeClock();
  log = new RecordingLogger();
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  // After a source has ended no timer of it may be left.
  assert.deepEqual(
    clock.actions.filter(({ closed }) => !closed),
    [],
  );
});

const source = (over: Partial<HttpSourceDeps> = {}): PodSource =>
  httpSource({ url, headers: [], pollMs: () => 20_000, nodeName: 'n1', clock, log, tell: silentHappenings, ...over });
const body =
  (text: string, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(200, headers).end(text);
const aPodOf = (name: unknown, image: unknown = 'i'): unknown => ({ metadata: { name }, spec: { containers: [{ name: 'c', image }] } });
const aList = (...items: readonly unknown[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items });

/** Resolves once a request has been dealt with and the pause before the next one has begun. */
async function paused(): Promise<void> {
  while (!clock.actions.some(({ closed, delay }) => !closed && delay === clock.frame + 20_000))
    await new Promise((done) => setImmediate(done));
}

/** One more request, to its end. */
async function poll(): Promise<void> {
  await paused();
  await clock.advance(20_000);
  await paused();
}

test('a pod or a list of them, as YAML or JSON', async () => {
  answer = body(aManifest('web'));
  using snapshots = new Snapshots(source());
  const [pod] = await snapshots.next();
  assert.equal(pod?.metadata.name, 'web-n1');
  assert.equal(pod.spec.tolerations, undefined);
  answer = body(aList(aPodOf('a'), aPodOf('b')));
  await poll();
  assert.deepEqual(namesOf(await snapshots.next()), ['a-n1', 'b-n1']);
  answer = body(aList());
  await poll();
  assert.deepEqual(await snapshots.next(), []);
});

test('it sends its headers, repeated ones too, and the credentials of the URL', async () => {
  answer = body(aManifest('web'));
  const headers = [
    ['X-Token', 'a'],
    ['X-Token', 'b'],
  ] as const;
  using snapshots = new Snapshots(source({ headers, url: url.replace('//', '//me:p%40ss@') }));
  await snapshots.next();
  assert.equal(requests[0]?.headers['x-token'], 'a, b');
  assert.equal(requests[0]?.headers.authorization, `Basic ${Buffer.from('me:p@ss').toString('base64')}`);
});

test('an unchanged answer is no snapshot, and an unchanged pod keeps its identity', async () => {
  answer = body(aList(aPodOf('a'), aPodOf('b')));
  using snapshots = new Snapshots(source());
  const first = await snapshots.next();
  await poll();
  answer = body(aList(aPodOf('a'), aPodOf('b', 'new')));
  await poll();
  const second = await snapshots.next();
  assert.equal(imageOf(second, 'b-n1'), 'new');
  assert.equal(second[0], first[0]);
  assert.equal(snapshots.waiting, 0);
});

test('it asks only for what is newer', async () => {
  answer = body(aManifest('web'), { etag: '"1"', 'last-modified': 'Wed, 21 Oct 2020 07:28:00 GMT' });
  using snapshots = new Snapshots(source());
  await snapshots.next();
  answer = (_, response) => response.writeHead(304).end();
  await poll();
  assert.equal(requests[1]?.headers['if-none-match'], '"1"');
  assert.equal(requests[1]?.headers['if-modified-since'], 'Wed, 21 Oct 2020 07:28:00 GMT');
  answer = body(aManifest('web', 'new'));
  await poll();
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'new');
  assert.deepEqual(log.lines, []);
});

test('no failure takes a pod away; each is said once, and when it is over', async () => {
  answer = body(aManifest('web'));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  const failures: readonly (readonly [Answer, RegExp])[] = [
    [(_, response) => response.writeHead(503).end('no'), /status 503 Service Unavailable/],
    [body(''), /zero-length data/],
    [(request) => request.socket.destroy(), /fetch failed/],
    [body('x'.repeat(10 * 1024 * 1024 + 1)), /longer than 10485760 bytes/],
  ];
  for (const [failure, message] of failures) {
    answer = failure;
    const said = log.next('manifest URL cannot be read: its pods stay as they are');
    await poll();
    assert.match(String((await said).fields['error']), message);
    await poll();
  }
  const healed = log.next('manifest URL can be read again');
  answer = body(aManifest('web', 'new'));
  await poll();
  await healed;
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'new');
  assert.equal(log.count('manifest URL cannot be read: its pods stay as they are'), failures.length);
  assert.equal(snapshots.waiting, 0);
});

test('an answer that does not come is given up after ten seconds', async () => {
  answer = () => {};
  const said = log.next('manifest URL cannot be read: its pods stay as they are');
  using _ = new Snapshots(source());
  await once(server, 'request');
  await clock.advance(10_000);
  assert.match(String((await said).fields['error']), /no answer within 10 s/);
});

test('redirects are followed', async () => {
  answer = (request, response) =>
    request.url === '/pods' ? response.writeHead(302, { location: '/moved' }).end() : response.writeHead(200).end(aManifest('web'));
  using snapshots = new Snapshots(source());
  assert.deepEqual(namesOf(await snapshots.next()), ['web-n1']);
});

test('a bad pod of a list harms no other and stays what it was', async () => {
  answer = body(aList(aPodOf('a'), aPodOf('b', 'old'), aPodOf('c')));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  const refused = log.next('manifest refused');
  answer = body(aList(aPodOf('a', 'new'), aPodOf('b', 5)));
  await poll();
  const pods = await snapshots.next();
  assert.deepEqual(namesOf(pods), ['a-n1', 'b-n1']);
  assert.deepEqual([imageOf(pods, 'a-n1'), imageOf(pods, 'b-n1')], ['new', 'old']);
  const { fields } = await refused;
  assert.match(String(fields['fault']), /\/pods:1:\d+ spec.containers\[0\].image: expected a string, found number 5/);
  assert.equal(fields['keeps'], 'default/b');
});

test('a bad pod whose name cannot be read may be any that is missing: they all stay', async () => {
  answer = body(aList(aPodOf('a'), aPodOf('b')));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  answer = body(aList(aPodOf('a', 'new'), aPodOf(7)));
  await poll();
  assert.deepEqual(namesOf(await snapshots.next()), ['a-n1', 'b-n1']);
});

test('an answer that is no manifest changes nothing and is refused once', async () => {
  answer = body(aManifest('web'));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  const refused = log.next('manifest refused');
  answer = body('<html>');
  await poll();
  await refused;
  await poll();
  await poll();
  assert.equal(log.count('manifest refused'), 1);
  assert.equal(snapshots.waiting, 0);
});

test('a pod that is declared twice runs as the first says', async () => {
  answer = body(aList(aPodOf('a', 'first'), aPodOf('a', 'second')));
  using snapshots = new Snapshots(source());
  assert.equal(imageOf(await snapshots.next(), 'a-n1'), 'first');
  assert.equal(log.count('pod declared twice: the first one runs, the other is ignored'), 1);
});

test('of thousands of faults the first ones are logged, and how many more there are', async () => {
  answer = body(aList(aPodOf('good')));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  const faulty = Array.from({ length: 5_000 }, (_, i) => aPodOf(`p${i}`, 5));
  const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`-${i}`, '-']));
  answer = body(aList(aPodOf('good'), ...faulty, { ...(aPodOf('labelled') as object), metadata: { name: 'labelled', labels } }));
  await poll();
  assert.ok(log.lines.length < 200, `${log.lines.length} lines`);
  assert.match(JSON.stringify(log.lines), /more pods of the manifest refused.*4951/);
});
