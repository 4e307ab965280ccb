import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { fixedCredentials } from '../../../../src/cluster/kube/cluster-access.ts';
import type { OwnedKubeClients } from '../../../../src/cluster/kube/kube-clients.ts';
import type { AccessControl, AccessRefusal } from '../../../../src/server/auth/access-control.ts';
import { nodeAccess } from '../../../../src/server/auth/node-access.ts';
import type { ServerOptions } from '../../../../src/server/server-options.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { clientsFor } from '../../../builders/clients-under-test.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { ScriptedApiServer, type ScriptedRequest } from '../../../fakes/scripted-api-server.ts';

const ca = aCa();
const TOKENS = 10_000;
const AT_ONCE = 10;
const MOST_WAITING = 250;

let clock: FakeClock;
let server: ScriptedApiServer;
let clients: OwnedKubeClients;
let control: AccessControl;
let options: ServerOptions;
const origins = { address: 'default', port: 'default', authenticationTokenWebhook: 'default' } as const;
let log: RecordingLogger;
let stop: AbortController;

beforeEach(async () => {
  clock = new FakeClock();
  log = new RecordingLogger();
  stop = new AbortController();
  server = await ScriptedApiServer.start(ca.issue({ commonName: 'api', hosts: ['127.0.0.1'] }));
  const limits = () => ({ qps: 50, burst: 100 });
  const access = { server: server.url, caPem: ca.pem, credentials: fixedCredentials({}), origin: 'kubeconfig k' };
  clients = clientsFor(access, { clock, log, main: limits, events: limits });
  options = {
    clientCaFile: '',
    anonymousAuth: false,
    authenticationTokenWebhook: true,
    authenticationTokenWebhookCacheTtlMs: 120_000,
    authorizationMode: 'AlwaysAllow',
  } as ServerOptions;
  control = nodeAccess({ options, origins, nodeName: 'n', api: clients.reviews, clock, log, stop: stop.signal });
});
afterEach(async () => {
  stop.abort();
  await clients.close();
  await server.stop();
});

/** What each client hears, in the order in which they hear it. */
function flood(
  count: number,
  signal = new AbortController().signal,
): { readonly heard: (AccessRefusal | undefined)[]; readonly all: Promise<unknown> } {
  const heard: (AccessRefusal | undefined)[] = [];
  const each = Array.from({ length: count }, async (_, n) => {
    const headers = { authorization: `Bearer unknown-${n}` };
    heard.push(await control({ method: 'GET', path: '/pods', headers, certificateUser: () => undefined, peer: '10.0.0.66', signal }));
  });
  return { heard, all: Promise.all(each) };
}
const ask = (token: string, peer = '10.0.0.1'): Promise<AccessRefusal | undefined> =>
  control({
    method: 'GET',
    path: '/pods',
    headers: { authorization: `Bearer ${token}` },
    certificateUser: () => undefined,
    peer,
    signal: new AbortController().signal,
  });
const tokenOf = ({ body }: ScriptedRequest): string => /"token":"([^"]*)"/.exec(body)?.[1] ?? '';
/** Takes requests until `wanted` is among them, and leaves the others without an answer. */
async function taken(wanted: (request: ScriptedRequest) => boolean): Promise<ScriptedRequest> {
  for (;;) {
    const request = await server.next();
    if (wanted(request)) return request;
  }
}

test(`${TOKENS} unknown tokens do not delay a status patch of the agent, and all but a few are refused at once`, async () => {
  const { heard, all } = flood(TOKENS);
  const patch = clients.main.request(
    {
      method: 'PATCH',
      path: '/api/v1/namespaces/default/pods/web/status',
      body: {},
      contentType: 'application/strategic-merge-patch+json',
    },
    new AbortController().signal,
  );
  (await taken(({ method }) => method === 'PATCH')).answer(200, {});
  await patch;
  assert.equal(clock.monotonicMs(), 0, 'milliseconds that the patch waited');
  assert.equal(heard.length, TOKENS - AT_ONCE - MOST_WAITING);
  // The API server says nothing: whoever still waits hears so when the time for a review is over.
  await clock.advance(10_000);
  await all;
  assert.ok(heard.every((refusal) => refusal?.status === 401));
  const told = new Set(log.lines.map(({ message, fields }) => `${message}: ${String(fields['error'])}`));
  assert.deepEqual(
    [...told],
    [
      'request refused: invalid credentials: too much waits for the API server',
      'request refused: invalid credentials: a review by the API server took longer than 10 s',
    ],
  );
});

test('a good token from another address is believed in its turn, during a flood of unknown ones', async () => {
  const { all } = flood(TOKENS);
  const answered = ask('good');
  const answering = (async () => {
    for (;;) {
      const request = await server.next();
      const good = tokenOf(request) === 'good';
      request.answer(201, { status: good ? { authenticated: true, user: { username: 'jo' } } : { authenticated: false } });
      if (good) return;
    }
  })();
  assert.equal(await answered, undefined);
  await answering;
  // Besides those that were under way before it, at most one of the flood's for each that ended.
  assert.ok(server.seen.length <= AT_ONCE * 3, `${server.seen.length} reviews`);
  assert.equal(clock.monotonicMs(), 0);
  stop.abort(new Error('over'));
  await all;
});

test('what is asked for a client ends with the client', async () => {
  const gone = new AbortController();
  const { heard, all } = flood(AT_ONCE + 5, gone.signal);
  const asked = await Promise.all(Array.from({ length: AT_ONCE }, () => server.next()));
  gone.abort(new Error('the client has gone'));
  await Promise.all(asked.map(({ closed }) => closed));
  await all;
  assert.equal(heard.length, AT_ONCE + 5);
  assert.equal(server.asked, false);
  assert.deepEqual(log.lines, [], 'nobody is left to tell');
});

test('one token for which several clients ask is asked about until the last of them has gone', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const request = (signal: AbortSignal) => ({
    method: 'GET',
    path: '/pods',
    headers: { authorization: 'Bearer t' },
    certificateUser: () => undefined,
    peer: 'p',
    signal,
  });
  const one = control(request(first.signal));
  const two = control(request(second.signal));
  const asked = await server.next();
  first.abort(new Error('gone'));
  assert.equal((await one)?.status, 401);
  asked.answer(201, { status: { authenticated: true, user: { username: 'jo' } } });
  assert.equal(await two, undefined);
  assert.equal(server.seen.length, 1);
});

test('a token that is longer than any is refused without a review', async () => {
  assert.equal((await ask('x'.repeat(16 * 1024 + 1)))?.status, 401);
  assert.equal(server.asked, false);
  assert.match(String(log.lines[0]?.fields['error']), /longer than 16384 characters/);
});

test('a user without rights who asks for 10,000 paths is asked about once for each kind of right', async () => {
  const webhook: ServerOptions = {
    ...options,
    clientCaFile: 'ca.pem',
    authorizationMode: 'Webhook',
    authorizationWebhookCacheUnauthorizedTtlMs: 30_000,
  };
  const own = nodeAccess({ options: webhook, origins, nodeName: 'n', api: clients.reviews, clock, log, stop: stop.signal });
  const signal = new AbortController().signal;
  const asked = Promise.all(
    Array.from({ length: TOKENS }, (_, n) =>
      own({
        method: 'GET',
        path: `/exec/default/web/app${n}`,
        headers: {},
        certificateUser: () => ({ name: 'jo', groups: [] }),
        peer: '10.0.0.66',
        signal,
      }),
    ),
  );
  (await server.next()).answer(201, { status: { allowed: false } });
  assert.deepEqual(new Set((await asked).map((refusal) => refusal?.status)), new Set([403]));
  assert.deepEqual(server.seen, ['POST /apis/authorization.k8s.io/v1/subjectaccessreviews']);
});
