import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ApiError, ApiUnreachableError } from '../../../../src/model/api-error.ts';
import type { ClusterAccess } from '../../../../src/cluster/kube/cluster-access.ts';
import type { Credentials } from '../../../../src/ports/api-credentials.ts';
import { parseProxy } from '../../../../src/cluster/kube/proxy.ts';
import { fixedCredentials } from '../../../../src/cluster/kube/cluster-access.ts';
import type { KubeClientsOptions, OwnedKubeClients } from '../../../../src/cluster/kube/kube-clients.ts';
import type { ApiRequest } from '../../../../src/ports/kube-api.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { clientsFor } from '../../../builders/clients-under-test.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordedHappenings } from '../../../fakes/recorded-happenings.ts';
import { ScriptedApiServer } from '../../../fakes/scripted-api-server.ts';

const ca = aCa();
const serverPair = ca.issue({ commonName: 'api', hosts: ['127.0.0.1', 'api.example'] });
const never = new AbortController().signal;
const get: ApiRequest = { method: 'GET', path: '/api/v1/nodes/a' };

let server: ScriptedApiServer;
let clock: FakeClock;
let opened: OwnedKubeClients[];
beforeEach(async () => {
  server = await ScriptedApiServer.start(serverPair);
  clock = new FakeClock();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((clients) => clients.close()));
  await server.stop();
  assert.deepEqual(
    clock.actions.filter(({ closed }) => !closed),
    [],
    'no timer is left',
  );
});

const withoutCa = (over: Partial<ClusterAccess> = {}): ClusterAccess => ({
  server: server.url,
  credentials: fixedCredentials({}),
  origin: 'kubeconfig k',
  ...over,
});

function clientsOf(over: Partial<ClusterAccess> = {}, options: Partial<KubeClientsOptions> = {}): OwnedKubeClients {
  const access = 'origin' in over ? withoutCa(over) : withoutCa({ caPem: ca.pem, ...over });
  const clients = clientsFor(access, { clock, ...options });
  opened.push(clients);
  return clients;
}

for (const http2 of [true, false]) {
  describe(http2 ? 'over HTTP/2' : 'over HTTP/1.1', () => {
    let own: ScriptedApiServer;
    beforeEach(async () => {
      own = await ScriptedApiServer.start({ ...serverPair, http2 });
    });
    afterEach(() => own.stop());

    test('a request carries who asks and what, and resolves with the JSON', async () => {
      const clients = clientsOf({ server: `${own.url}/base`, credentials: fixedCredentials({ authorization: 'Bearer t' }) });
      const asked = clients.main.request(
        { method: 'PATCH', path: '/api/v1/x', query: { a: 'b c', d: 1 }, body: { e: 'ü' }, contentType: 'application/merge-patch+json' },
        never,
      );
      const request = await own.next();
      assert.equal(request.http2, http2);
      assert.deepEqual([request.method, request.path, request.query], ['PATCH', '/base/api/v1/x', { a: 'b c', d: '1' }]);
      assert.equal(request.headers['content-type'], 'application/merge-patch+json');
      assert.equal(request.headers['authorization'], 'Bearer t');
      assert.equal(request.headers['user-agent'], 'agent/1');
      assert.equal(request.body, '{"e":"ü"}');
      request.answer(200, { ok: 'ß' });
      assert.deepEqual(await asked, { ok: 'ß' });
    });

    test('an answer that breaks off is no answer', async () => {
      const asked = clientsOf({ server: own.url }).main.request(get, never);
      const request = await own.next();
      request.begin();
      request.write('{"half":');
      await clock.advance(1);
      request.cut();
      await assert.rejects(
        asked,
        (error) => error instanceof ApiUnreachableError && error.message.startsWith(`GET ${own.url}/api/v1/nodes/a: `),
      );
    });

    test('an abort ends the request at both ends', async () => {
      const stop = new AbortController();
      const asked = clientsOf({ server: own.url }).main.request(get, stop.signal);
      const request = await own.next();
      stop.abort(new Error('enough'));
      await assert.rejects(asked, /^Error: enough$/);
      await request.closed;
    });

    test('what takes too long is given up, naming server and request', async () => {
      const asked = clientsOf({ server: own.url }).main.request({ ...get, query: { a: 'secret' }, timeoutMs: 3_000 }, never);
      const rejected = assert.rejects(asked, {
        name: 'ApiUnreachableError',
        message: `GET ${own.url}/api/v1/nodes/a: no answer within 3 s`,
      });
      const request = await own.next();
      await clock.advance(3_000);
      await rejected;
      await request.closed;
    });
  });
}

for (const name of ['..', '../../b/secrets/s', '.', 'a?watch=true', 'a#b', 'a\r\nb', 'a b'])
  test(`an object that is called ${JSON.stringify(name)} is not asked for: that would be another`, async () => {
    const asked = clientsOf().main.request({ method: 'GET', path: `/api/v1/namespaces/a/secrets/${name}` }, never);
    await assert.rejects(asked, /invalid resource name in "\/api\/v1\/namespaces\/a\/secrets\//);
    assert.deepEqual(server.seen, []);
  });

test('all four doors share one connection', async () => {
  const clients = clientsOf();
  for (const door of [clients.main, clients.events, clients.heartbeat, clients.reviews]) {
    const asked = door.request(get, never);
    (await server.next()).answer(200, {});
    await asked;
  }
  assert.equal(server.connections, 1);
});

describe('a refusal', () => {
  for (const [name, status, body, headers, expected] of [
    [
      'has what the Status object says',
      404,
      { kind: 'Status', reason: 'NotFound', message: 'nodes "a" not found' },
      {},
      { status: 404, reason: 'NotFound', message: 'nodes "a" not found', retryAfterMs: undefined },
    ],
    [
      'has when to come again',
      504,
      { kind: 'Status', reason: 'Timeout', message: 'later', details: { retryAfterSeconds: 2 } },
      {},
      { status: 504, reason: 'Timeout', message: 'later', retryAfterMs: 2_000 },
    ],
    ['that is no Status is quoted', 502, '<html>', {}, { status: 502, reason: '', retryAfterMs: undefined }],
    ['429 without a time is told at once', 429, 'busy', {}, { status: 429, reason: '', retryAfterMs: undefined }],
    ['with an unknown time is told at once', 503, 'x', { 'retry-after': 'soon' }, { status: 503, reason: '', retryAfterMs: undefined }],
  ] as const) {
    test(name, async () => {
      const asked = clientsOf().main.request(get, never);
      const rejected = assert.rejects(asked, { name: 'ApiError', ...expected });
      (await server.next()).answer(status, body, headers);
      await rejected;
    });
  }

  test('an answer that is no JSON is one', async () => {
    const asked = clientsOf().main.request(get, never);
    const rejected = assert.rejects(asked, (error) => error instanceof ApiError && /the answer is not JSON: <html>/.test(error.message));
    (await server.next()).answer(200, '<html>');
    await rejected;
  });
});

describe('asked to come again later', () => {
  test('a client does, after the time it was told', async () => {
    const asked = clientsOf().main.request(get, never);
    (await server.next()).answer(429, 'busy', { 'retry-after': '2' });
    await waiting();
    await clock.advance(1_999);
    assert.equal(server.asked, false);
    await clock.advance(300);
    (await server.next()).answer(200, { n: 1 });
    assert.deepEqual(await asked, { n: 1 });
  });

  test('a heartbeat does not wait longer than its own time', async () => {
    const asked = clientsOf().heartbeat.request(get, never);
    const rejected = assert.rejects(asked, { status: 503, retryAfterMs: 11_000 });
    (await server.next()).answer(503, 'busy', { 'retry-after': '11' });
    await rejected;
  });

  test('the wait can be aborted', async () => {
    const stop = new AbortController();
    const asked = clientsOf().main.request(get, stop.signal);
    (await server.next()).answer(503, 'busy', { 'retry-after': '5' });
    await waiting();
    stop.abort(new Error('enough'));
    await assert.rejects(asked, /^Error: enough$/);
  });

  test('patience ends', async () => {
    const asked = clientsOf().main.request(get, never);
    const rejected = assert.rejects(asked, { status: 429 });
    for (let asks = 0; asks < 3; asks++) {
      (await server.next()).answer(429, 'busy', { 'retry-after': '25' });
      if (asks < 2) await waiting();
      if (asks < 2) await clock.advance(28_000);
    }
    await rejected;
  });
});

test('the main door keeps to its rate, heartbeats to none', async () => {
  const clients = clientsOf({}, { main: () => ({ qps: 1, burst: 2 }) });
  const asked = [1, 2, 3].map(() => clients.main.request(get, never));
  (await server.next()).answer(200, {});
  (await server.next()).answer(200, {});
  const beat = clients.heartbeat.request({ ...get, path: '/beat' }, never);
  const request = await server.next();
  assert.equal(request.path, '/beat');
  request.answer(200, {});
  await beat;
  await clock.advance(1_000);
  (await server.next()).answer(200, {});
  await Promise.all(asked);
});

test('a token that is not believed is fetched anew, once', async () => {
  let tokens = 0;
  const current = (): Promise<Credentials> => Promise.resolve({ authorization: `Bearer ${tokens}` });
  const clients = clientsOf({ credentials: { current, refused: () => ++tokens > 0 } });
  const asked = clients.main.request(get, never);
  (await server.next()).answer(401, { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' });
  const again = await server.next();
  assert.equal(again.headers['authorization'], 'Bearer 1');
  const rejected = assert.rejects(asked, { status: 401 });
  again.answer(401, { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' });
  await rejected;
});

test('closed connections are dialled anew', async () => {
  const clients = clientsOf();
  const asked = clients.main.request(get, never);
  const rejected = assert.rejects(asked, ApiUnreachableError);
  await server.next();
  clients.heartbeat.closeConnections();
  await rejected;
  const again = clients.main.request(get, never);
  (await server.next()).answer(200, {});
  await again;
  assert.equal(server.connections, 2);
});

test('a new client certificate is used at once, and open watches move to it without losing anything', async () => {
  let credentials: Credentials = { identity: ca.issue({ commonName: 'old' }) };
  const clients = clientsOf({ credentials: { current: () => Promise.resolve(credentials), refused: () => true } });
  const events: string[] = [];
  const watching = clients
    .informer({ path: '/api/v1/pods' })
    .subscribe((event) =>
      events.push(event.kind === 'reset' ? `reset ${event.items.length}` : `${event.kind} ${event.item.metadata.name}`),
    );
  (await server.next()).answer(200, { metadata: { resourceVersion: '5' }, items: [] });
  const old = await server.next();
  assert.equal(old.user, 'old');
  old.begin();
  old.write(`${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', uid: '1', resourceVersion: '6' } } })}\n`);
  const slow = clients.main.request(get, never);
  const slowRequest = await server.next();

  credentials = { identity: ca.issue({ commonName: 'new' }) };
  await clients.refreshCredentials(never);
  await old.closed;
  await waiting();
  await clock.advance(2_100);
  const moved = await server.next();
  assert.deepEqual([moved.user, moved.query['resourceVersion'], events], ['new', '6', ['reset 0', 'put a']]);
  // What is under way ends on the old connection.
  slowRequest.answer(200, { done: true });
  assert.deepEqual(await slow, { done: true });
  watching.unsubscribe();
  await moved.closed;
});

describe('a connection that cannot be made says why:', () => {
  for (const [name, over, expected] of [
    [
      'a CA that is not the server’s',
      { caPem: aCa('other-ca').pem },
      /not signed by the CA that the kubeconfig gives for the cluster \(CN=other-ca\)/,
    ],
    ['a name that is not the server’s', { tlsServerName: 'b.example' }, /for another name; see tls-server-name: .*b\.example/],
  ] as const) {
    test(name, async () => {
      await assert.rejects(
        clientsOf(over).main.request(get, never),
        (error) => error instanceof ApiUnreachableError && expected.test(error.message),
      );
    });
  }

  test('no CA, where the machine knows none', async () => {
    await assert.rejects(
      clientsOf(withoutCa()).main.request(get, never),
      /not signed by any CA that this machine trusts, and the cluster in the kubeconfig has no certificate-authority/,
    );
  });

  test('a server certificate that has expired', async () => {
    const expired = await ScriptedApiServer.start(ca.issue({ commonName: 'api', hosts: ['127.0.0.1'], notAfterMs: Date.now() - 1_000 }));
    await assert.rejects(clientsOf({ server: expired.url }).main.request(get, never), /has expired/);
    await expired.stop();
  });

  test('nobody listens', async () => {
    await server.stop();
    await assert.rejects(clientsOf().main.request(get, never), { message: `GET ${server.url}/api/v1/nodes/a: connection refused` });
  });

  test('http is spoken there', async () => {
    const plain = createServer().listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as AddressInfo;
    await assert.rejects(clientsOf({ server: `https://127.0.0.1:${port}` }).main.request(get, never), /does not speak TLS; is it http\?/);
    plain.close();
  });
});

test('a server’s other name will do, and insecure-skip-tls-verify asks for none', async () => {
  for (const clients of [clientsOf({ tlsServerName: 'api.example' }), clientsOf(withoutCa({ insecureSkipTlsVerify: true }))]) {
    const asked = clients.main.request(get, never);
    (await server.next()).answer(200, {});
    await asked;
  }
});

test('plain http is spoken where the server says so', async () => {
  const plain = createServer((_, response) => response.end('{"a":1}')).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  assert.deepEqual(await clientsOf(withoutCa({ server: `http://127.0.0.1:${port}` })).main.request(get, never), { a: 1 });
  plain.close();
});

test('a proxy is asked for a tunnel', async () => {
  const { createConnection } = await import('node:net');
  const asked: string[] = [];
  const proxy = createServer().listen(0, '127.0.0.1');
  proxy.on('connect', (request, socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const upstream = createConnection(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const end of [socket, upstream]) end.on('error', () => {});
  });
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const answered = clientsOf({ proxy: parseProxy(`http://u:p@127.0.0.1:${port}`, 'proxy-url', 'test') }).main.request(get, never);
  (await server.next()).answer(200, { through: true });
  assert.deepEqual(await answered, { through: true });
  assert.deepEqual(asked, [`127.0.0.1:${server.port} Basic ${Buffer.from('u:p').toString('base64')}`]);
  proxy.closeAllConnections();
  proxy.close();
});

/** Resolves once the client waits for the clock, and for nothing else. */
async function waiting(): Promise<void> {
  while (!clock.actions.some(({ closed }) => !closed)) await new Promise((done) => setImmediate(done));
  for (let turns = 0; turns < 20; turns++) await new Promise((done) => setImmediate(done));
}

test('each request is told, with its answer, and how long it waited for its turn', async () => {
  const { happened, tell } = new RecordedHappenings();
  const clients = clientsOf({}, { main: () => ({ qps: 1, burst: 1 }), tell });
  const first = clients.main.request(get, never);
  (await server.next()).answer(200, {});
  await first;
  const second = clients.main.request({ ...get, method: 'DELETE' }, never);
  await clock.advance(1000);
  (await server.next()).answer(404, {});
  await assert.rejects(second, ApiError);
  assert.deepEqual(happened, [
    { name: 'apiRequestWaited', what: { method: 'GET', server: server.url, waitedMs: 0 } },
    { name: 'apiRequested', what: { method: 'GET', server: server.url, status: 200, tookMs: 0 } },
    { name: 'apiRequestWaited', what: { method: 'DELETE', server: server.url, waitedMs: 1000 } },
    { name: 'apiRequested', what: { method: 'DELETE', server: server.url, status: 404, tookMs: 0 } },
  ]);
});

test('--chaos-chance fails requests that it hits before they are sent, and no others', async () => {
  const hits = [true, false];
  const clients = clientsOf({}, { chaos: () => hits.shift() === true });
  await assert.rejects(clients.main.request(get, never), (error) => {
    assert.ok(error instanceof ApiUnreachableError);
    assert.match(error.message, /connection reset by peer \(made up by --chaos-chance\)/);
    return true;
  });
  const asked = clients.main.request(get, never);
  (await server.next()).answer(200, { is: 'there' });
  assert.deepEqual(await asked, { is: 'there' });
  assert.equal(server.seen.length, 1);
});
