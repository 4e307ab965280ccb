import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { pipeline } from 'node:stream';
import { createServer } from 'node:tls';
import { inspect } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { isSamePair } from '../../../../src/base/pem-pair.ts';
import { checkAccess } from '../../../../src/cluster/kube/check-access.ts';
import { type ClusterAccess, fixedCredentials } from '../../../../src/cluster/kube/cluster-access.ts';
import type { OwnedKubeClients } from '../../../../src/cluster/kube/kube-clients.ts';
import { loadKubeconfig } from '../../../../src/cluster/kube/load-kubeconfig.ts';
import { parseProxy } from '../../../../src/cluster/kube/proxy.ts';
import { ApiUnreachableError } from '../../../../src/model/api-error.ts';
import type { Credentials } from '../../../../src/ports/api-credentials.ts';
import type { ApiRequest } from '../../../../src/ports/kube-api.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { clientsFor } from '../../../builders/clients-under-test.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { ScriptedApiServer } from '../../../fakes/scripted-api-server.ts';
import { type ProxyMood, ScriptedProxy } from '../../../fakes/scripted-proxy.ts';

const ca = aCa();
/** This machine trusts it: Node reads what that is once, when it is first asked for. */
const trustedCa = aCa('trusted');
const trustDirectory = mkdtempSync(join(tmpdir(), 'rxlet-trust-'));
process.env['SSL_CERT_FILE'] = join(trustDirectory, 'ca.pem');
writeFileSync(join(trustDirectory, 'ca.pem'), trustedCa.pem);
after(() => rm(trustDirectory, { recursive: true }));

const never = new AbortController().signal;
const get: ApiRequest = { method: 'GET', path: '/api/v1/nodes/a' };
const API = 'https://api.example:6443';

let server: ScriptedApiServer;
let proxy: ScriptedProxy;
let clock: FakeClock;
let opened: OwnedKubeClients[];
beforeEach(async () => {
  server = await ScriptedApiServer.start(ca.issue({ commonName: 'api', hosts: ['api.example', '10.0.0.9'] }));
  proxy = await ScriptedProxy.start(server.port);
  clock = new FakeClock();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((clients) => clients.close()));
  await proxy.stop();
  await server.stop();
  assert.deepEqual(
    clock.actions.filter(({ closed }) => !closed),
    [],
    'no timer is left',
  );
});

const accessBy = (url: string, over: Partial<ClusterAccess> = {}): ClusterAccess => ({
  server: API,
  caPem: ca.pem,
  credentials: fixedCredentials({}),
  origin: 'kubeconfig k',
  proxy: parseProxy(url, 'HTTPS_PROXY', 'test'),
  ...over,
});

function clientsBy(url: string, over: Partial<ClusterAccess> = {}): OwnedKubeClients {
  const clients = clientsFor(accessBy(url, over), { clock });
  opened.push(clients);
  return clients;
}

const urlOf = (kind: string, user = ''): string => `${kind}://${user}127.0.0.1:${proxy.port}`;

for (const kind of ['http', 'socks5', 'socks5h']) {
  describe(`through a proxy of ${kind}`, () => {
    test('requests and watches go to a server that only the proxy can name, on one connection of HTTP/2', async () => {
      const clients = clientsBy(urlOf(kind));
      const asked = clients.main.request(get, never);
      const request = await server.next();
      assert.equal(request.http2, true);
      request.answer(200, { a: 1 });
      assert.deepEqual(await asked, { a: 1 });

      const listed = firstValueFrom(clients.informer({ path: '/api/v1/pods' }));
      (await server.next()).answer(200, { metadata: { resourceVersion: '1' }, items: [] });
      await listed;
      const watching = clients.informer({ path: '/api/v1/services' });
      const seen: string[] = [];
      const following = watching.subscribe((event) => seen.push(event.kind));
      (await server.next()).answer(200, { metadata: { resourceVersion: '1' }, items: [] });
      const watch = await server.next();
      assert.equal(watch.query['watch'], 'true');
      following.unsubscribe();
      await watch.closed;
      assert.deepEqual(seen, ['reset']);
      assert.deepEqual([proxy.asked, server.connections], [['api.example:6443'], 1]);
    });

    test('a newer client certificate dials through it again', async () => {
      const [first, second] = [ca.issue({ commonName: 'one' }), ca.issue({ commonName: 'two' })];
      let identity = first;
      const credentials = { current: async (): Promise<Credentials> => ({ identity }), refused: () => true };
      const clients = clientsBy(urlOf(kind), { credentials });
      const users: (string | undefined)[] = [];
      for (const next of [second, second]) {
        const asked = clients.main.request(get, never);
        const request = await server.next();
        users.push(request.user);
        request.answer(200, {});
        await asked;
        assert.equal(isSamePair(identity, next), identity === next);
        identity = next;
      }
      assert.deepEqual(users, ['one', 'two']);
      assert.deepEqual(proxy.asked, ['api.example:6443', 'api.example:6443']);
    });

    test('with a user and a password', async () => {
      const own = await ScriptedProxy.start(server.port, 'u:p@ss');
      const asked = clientsBy(`${kind}://u:p%40ss@127.0.0.1:${own.port}`).main.request(get, never);
      (await server.next()).answer(200, {});
      await asked;
      assert.deepEqual(own.asked, ['api.example:6443']);
      await own.stop();
    });

    test('an address goes to it as it is', async () => {
      const asked = clientsBy(urlOf(kind), { server: 'https://10.0.0.9' }).main.request(get, never);
      (await server.next()).answer(200, {});
      await asked;
      assert.deepEqual(proxy.asked, ['10.0.0.9:443']);
    });

    test('one that does not answer is given up after ten seconds, and what was tried is said', async () => {
      proxy.mood = 'is silent';
      const failed = assert.rejects(clientsBy(urlOf(kind)).main.request(get, never), {
        name: 'ApiUnreachableError',
        message: `GET ${API}/api/v1/nodes/a through the proxy ${urlOf(kind)} (HTTPS_PROXY): the proxy was asked to connect to api.example port 6443, and nothing came for 10 s`,
      });
      await whenAsked();
      await clock.advance(9_999);
      await clock.advance(1);
      await failed;
    });

    test('one that is not there is named', async () => {
      const gone = urlOf(kind);
      await proxy.stop();
      await assert.rejects(clientsBy(gone).main.request(get, never), {
        message: `GET ${API}/api/v1/nodes/a through the proxy ${gone} (HTTPS_PROXY): the proxy was dialled: connection refused`,
      });
      proxy = await ScriptedProxy.start(server.port);
    });

    test('whoever is closed waits for no proxy', async () => {
      proxy.mood = 'is silent';
      const clients = clientsBy(urlOf(kind));
      const failed = assert.rejects(clients.main.request(get, never), ApiUnreachableError);
      await whenAsked();
      await clients.close();
      await failed;
    });
  });
}

/** Until the proxy was dialled: a deadline is set for it and for the request. */
async function whenAsked(): Promise<void> {
  while (clock.actions.filter(({ closed }) => !closed).length < 2) await new Promise((done) => setImmediate(done));
  for (let turns = 0; turns < 50; turns++) await new Promise((done) => setImmediate(done));
}

test('an address of IPv6 goes to a proxy of SOCKS5 in bytes', async () => {
  const clients = clientsBy(urlOf('socks5'), { server: 'https://[fd12::9:1]:6443', tlsServerName: 'api.example' });
  const asked = clients.main.request(get, never);
  (await server.next()).answer(200, {});
  await asked;
  assert.deepEqual(proxy.asked, ['fd120000000000000000000000090001:6443']);
});

test('through a proxy of https, whose certificate this machine trusts', async () => {
  const { certificatePem, keyPem } = trustedCa.issue({ commonName: 'proxy', hosts: ['127.0.0.1'] });
  const inTls = createServer({ cert: certificatePem, key: keyPem }, (socket) => {
    pipeline(socket, connect(proxy.port, '127.0.0.1'), socket, () => {});
  }).listen(0, '127.0.0.1');
  await once(inTls, 'listening');
  try {
    const clients = clientsBy(`https://127.0.0.1:${(inTls.address() as AddressInfo).port}`);
    const asked = clients.main.request(get, never);
    const request = await server.next();
    assert.equal(request.http2, true);
    request.answer(200, { a: 1 });
    assert.deepEqual(await asked, { a: 1 });
    assert.deepEqual(proxy.asked, ['api.example:6443']);
    await clients.close();
  } finally {
    inTls.close();
  }
});

describe('a proxy that refuses is quoted', () => {
  const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
  for (const [name, kind, mood, message] of [
    [
      'with its status',
      'http',
      { says: 'HTTP/1.1 403 Forbidden\r\n\r\n' },
      /: the proxy answered CONNECT api\.example:6443 with "HTTP\/1\.1 403 Forbidden"$/,
    ],
    [
      'when it wants a password',
      'http',
      { says: 'HTTP/1.1 407 Auth\r\n\r\n' },
      /with "HTTP\/1\.1 407 Auth"; it asks for a user and a password, which its URL does not have$/,
    ],
    ['when it hangs up', 'http', { says: '' }, /: the proxy was asked to connect to api\.example port 6443: /],
    ['but no more of it than a line', 'http', { says: `HTTP/1.1 500 ${'x'.repeat(5_000)}\r\n\r\n` }, /^.{0,500}$/],
    ['but not without end', 'http', { says: 'x'.repeat(20_000) }, /: its answer is longer than 16384 bytes$/],
    ['when it is no proxy of SOCKS5', 'socks5', { says: 'HTTP/1.1 400 Bad Request\r\n\r\n' }, /: what answers there is no SOCKS5 proxy$/],
    [
      'with its reply',
      'socks5',
      { says: bytes(5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0) },
      /: the proxy was asked to connect to api\.example port 6443 and refused: not allowed by its rules$/,
    ],
    ['when it wants to know who asks', 'socks5', { says: bytes(5, 255) }, /and wants a user and a password, which its URL does not have$/],
    ['when it hangs up early', 'socks5', { says: bytes(5) }, /: the proxy was asked to connect to api\.example port 6443: /],
  ] as readonly (readonly [string, string, ProxyMood, RegExp])[]) {
    test(`${kind}, ${name}`, async () => {
      proxy.mood = mood;
      await assert.rejects(clientsBy(urlOf(kind)).main.request(get, never), { name: 'ApiUnreachableError', message });
    });
  }

  for (const kind of ['http', 'socks5']) {
    test(`${kind}, and its password is repeated nowhere`, async () => {
      const own = await ScriptedProxy.start(server.port, 'u:other');
      await assert.rejects(clientsBy(`${kind}://u:sesame@127.0.0.1:${own.port}`).main.request(get, never), (error) => {
        assert.match(String(error), /the proxy .*does not take the user and the password of its URL|does not take the user/);
        assert.doesNotMatch(inspect(error, { depth: 10 }), /sesame|c2VzYW1l/);
        return true;
      });
      await own.stop();
    });
  }

  test('https, when its own certificate is not trusted by this machine', async () => {
    const own = `https://127.0.0.1:${server.port}`;
    await assert.rejects(clientsBy(own).main.request(get, never), {
      message: /through the proxy https:\/\/127\.0\.0\.1:\d+ \(HTTPS_PROXY\): the proxy was dialled: .*certificate/,
    });
  });
});

test('the first request of all says which proxy did not answer', async () => {
  proxy.mood = 'is silent';
  const access = accessBy(urlOf('http'));
  const clients = clientsFor(access, { clock });
  opened.push(clients);
  const failed = assert.rejects(checkAccess({ api: clients.heartbeat, access, nodeName: 'a', clock }, never), {
    name: 'ApiUnreachableError',
    message: `the API server ${API} through the proxy ${urlOf('http')} (HTTPS_PROXY) did not answer within 4 s`,
  });
  await whenAsked();
  await clock.advance(4_000);
  await failed;
  await clients.close();
});

describe('a kubeconfig', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rxlet-proxy-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const load = async (cluster: object, user: object, env: Readonly<Record<string, string>>): Promise<ClusterAccess> => {
    const file = join(directory, 'kubelet.conf');
    const given = { 'certificate-authority-data': Buffer.from(ca.pem).toString('base64'), server: API, ...cluster };
    const text = {
      'current-context': 'b',
      contexts: ['a', 'b'].map((name) => ({ name, context: { cluster: name, user: name } })),
      clusters: [
        { name: 'a', cluster: { server: 'https://wrong.example' } },
        { name: 'b', cluster: given },
      ],
      users: [
        { name: 'a', user: { token: 'wrong' } },
        { name: 'b', user },
      ],
    };
    await writeFile(file, JSON.stringify(text));
    return loadKubeconfig(file, { clock, log: new RecordingLogger(), env });
  };

  test("names a proxy of its own, before the environment's; and that of the environment is written into no other kubeconfig", async () => {
    const env = { HTTPS_PROXY: 'http://other.example:1' };
    const own = await load({ 'proxy-url': urlOf('socks5') }, {}, env);
    assert.deepEqual([own.proxyUrl, own.proxy?.from, own.proxy?.url.port], [urlOf('socks5'), 'proxy-url', String(proxy.port)]);
    const given = await load({}, {}, env);
    assert.deepEqual([given.proxyUrl, given.proxy?.from, given.proxy?.url.host], [undefined, 'HTTPS_PROXY', 'other.example:1']);
    assert.equal((await load({}, {}, { ...env, NO_PROXY: '.example' })).proxy, undefined);
  });

  test('acts for someone else, through the proxy, as its current context says', async () => {
    const user = {
      token: 't',
      as: 'jané',
      'as-uid': '7',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'example.com/Scope%': ['x', 'y'], reason: ['z'] },
    };
    const access = await load({ 'proxy-url': urlOf('http') }, user, {});
    const clients = clientsFor(access, { clock });
    opened.push(clients);
    const asked = clients.main.request(get, never);
    const request = await server.next();
    request.answer(200, {});
    await asked;
    const { headers } = request;
    assert.equal(headers['authorization'], 'Bearer t');
    assert.equal(Buffer.from(String(headers['impersonate-user']), 'latin1').toString(), 'jané');
    assert.equal(headers['impersonate-uid'], '7');
    assert.deepEqual(request.headersOf('impersonate-group'), ['a', 'b']);
    assert.deepEqual(request.headersOf('impersonate-extra-example.com%2fscope%25'), ['x', 'y']);
    assert.equal(headers['impersonate-extra-reason'], 'z');
  });

  test('with a header that cannot be is refused', async () => {
    await assert.rejects(load({}, { as: 'a\nb' }, {}), {
      name: 'KubeconfigError',
      message: /as: holds a character that no header can have$/,
    });
  });
});
