import { Verbosity } from '../../../src/base/verbosity.ts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { BehaviorSubject, ReplaySubject } from 'rxjs';
import { systemClock } from '../../../src/base/clock.ts';
import { errorText } from '../../../src/base/error-text.ts';
import type { ServedRequest } from '../../../src/ports/happenings.ts';
import type { KubeApi } from '../../../src/ports/kube-api.ts';
import type { ServingPair } from '../../../src/ports/serving-certificate.ts';
import { loadOptions } from '../../../src/options/load-options.ts';
import { kubeletServer, type KubeletServerDeps, servingAddress } from '../../../src/server/kubelet-server.ts';
import { HttpError, type Route } from '../../../src/ports/route.ts';
import { debugRoutes } from '../../../src/server/routes/debug-routes.ts';
import { nodeLogRoutes } from '../../../src/server/routes/node-log-routes.ts';
import type { ServerOptionOrigins, ServerOptions } from '../../../src/server/server-options.ts';
import { aCa, type PemPair, type TestCa } from '../../builders/a-pki.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { notTraced } from '../../../src/ports/tracing.ts';

let serverCa: TestCa;
let clientCa: TestCa;
let shown: PemPair;
let admin: PemPair;
let directory: string;
let log: RecordingLogger;
let stop: AbortController;
let running: Promise<void>;
let ports: { readonly https: number; readonly healthz: number; readonly readOnly: number };
let pairs: BehaviorSubject<ServingPair>;
/** Settles when a flood has been told to end. */
let flooded: PromiseWithResolvers<string>;
/** Paths whose requests were told to end. */
let told: string[];

before(() => {
  serverCa = aCa('server-ca');
  clientCa = aCa('client-ca');
  shown = serverCa.issue({ commonName: 'node', hosts: ['127.0.0.1'] });
  admin = clientCa.issue({ commonName: 'admin', organizations: ['system:masters', 'x'] });
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-server-'));
  await writeFile(join(directory, 'ca.pem'), clientCa.pem);
  log = new RecordingLogger();
  stop = new AbortController();
  running = Promise.resolve();
  const [https = 0, healthz = 0, readOnly = 0] = await freePorts(3);
  ports = { https, healthz, readOnly };
  pairs = new BehaviorSubject<ServingPair>(shown);
  told = [];
  flooded = Promise.withResolvers();
});
afterEach(async () => {
  stop.abort();
  await running;
  await rm(directory, { recursive: true });
});

const routes: readonly Route[] = [
  { methods: ['GET'], path: '/healthz', readOnly: true, handle: async (_, response) => void response.end('ok') },
  { methods: ['GET'], path: '/pods', readOnly: true, handle: async ({ query }, response) => void response.end(`pods ${query.toString()}`) },
  {
    methods: ['GET'],
    path: '/containerLogs/{namespace}/{pod}/{container}',
    debugging: true,
    handle: async ({ message, signal }, response) => {
      response.write('first\n');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      told.push(message.url ?? '');
      response.end('last\n');
    },
  },
  {
    methods: ['GET'],
    path: '/flood',
    handle: async ({ signal, message }, response) => {
      signal.addEventListener('abort', () => flooded.resolve(message.url ?? ''), { once: true });
      const block = Buffer.alloc(64 * 1024);
      while (!signal.aborted)
        if (!response.write(block)) await Promise.race([once(response, 'drain', { signal }), once(response, 'close')]);
    },
  },
  {
    methods: ['GET', 'POST'],
    path: '/exec/{namespace}/{pod}/{container}',
    debugging: true,
    upgrade: async ({ params, message }, socket, head) => {
      if (params['pod'] === 'missing') throw new HttpError(404, 'pod does not exist');
      if (params['pod'] === 'broken') throw new Error('broken inside');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${message.headers.upgrade ?? ''}\r\n\r\n`);
      socket.write(head);
      socket.pipe(socket);
      await once(socket, 'close');
    },
  },
  { methods: ['GET'], path: '/page', debugging: true, page: 'home', handle: async (_, response) => void response.end('page') },
  { methods: ['GET'], path: '/page/{file}', debugging: true, page: 'file', handle: async (_, response) => void response.end('file') },
  { methods: ['GET'], path: '/why', debugging: true, page: 'data', handle: async (_, response) => void response.end('why') },
  { methods: ['GET'], path: '/teapot', handle: () => Promise.reject(new HttpError(418, 'short and stout')) },
  { methods: ['GET'], path: '/crash', handle: () => Promise.reject(new Error('outer', { cause: new Error('inner') })) },
];

function start(options: Partial<ServerOptions> = {}, more: Partial<KubeletServerDeps> = {}, origins: Partial<ServerOptionOrigins> = {}) {
  const service = kubeletServer({
    options: {
      rootDir: directory,
      enableServer: true,
      address: '127.0.0.1',
      port: ports.https,
      readOnlyPort: 0,
      healthzBindAddress: '127.0.0.1',
      healthzPort: ports.healthz,
      pageAddress: '',
      enableDebuggingHandlers: true,
      enableSystemLogHandler: true,
      enableProfilingHandler: true,
      enableDebugFlagsHandler: true,
      streamingConnectionIdleTimeoutMs: 0,
      clientCaFile: join(directory, 'ca.pem'),
      anonymousAuth: false,
      authenticationTokenWebhook: true,
      authenticationTokenWebhookCacheTtlMs: 0,
      authorizationMode: 'AlwaysAllow',
      authorizationWebhookCacheAuthorizedTtlMs: 0,
      authorizationWebhookCacheUnauthorizedTtlMs: 0,
      tlsMinVersion: 'VersionTLS12',
      tlsCipherSuites: [],
      tlsCurvePreferences: [],
      ...options,
    },
    origins: {
      address: 'flag',
      port: 'flag',
      authenticationTokenWebhook: 'default',
      ...origins,
    },
    routes,
    api: undefined,
    certificate: { pairs },
    tell: { requestBegun: () => {}, requestEnded: () => {} },
    tracing: notTraced,
    onListening: () => {},
    nodeName: 'n',
    openFiles: 4_096,
    clock: systemClock,
    log,
    ...more,
  });
  running = service.run(stop.signal);
}
/** Resolves when so many listeners serve. */
const serving = async (count: number): Promise<void> => {
  while (log.count('serving') < count) await log.next('serving');
};

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingMessage['headers'];
}
async function answerOf(request: ReturnType<typeof httpRequest>): Promise<Answer> {
  request.end();
  const [response]: IncomingMessage[] = await once(request, 'response');
  assert(response);
  return { status: response.statusCode ?? 0, body: await text(response), headers: response.headers };
}
const get = (path: string, options: RequestOptions & Partial<PemPair> = {}): Promise<Answer> => {
  const { certificatePem, keyPem, ...rest } = options;
  return answerOf(
    httpsRequest({
      host: '127.0.0.1',
      port: ports.https,
      path,
      ca: serverCa.pem,
      cert: certificatePem,
      key: keyPem,
      agent: false,
      ...rest,
    }),
  );
};
const plain = (port: number, path: string, method = 'GET'): Promise<Answer> =>
  answerOf(httpRequest({ host: '127.0.0.1', port, path, method, agent: false }));
const local = (path: string): Promise<Answer> => answerOf(httpRequest({ socketPath: join(directory, 'rxlet.sock'), path, agent: false }));

function tls(pair: PemPair = admin): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port: ports.https, ca: serverCa.pem, cert: pair.certificatePem, key: pair.keyPem });
  return once(socket, 'secureConnect').then(() => socket);
}
/** What comes until `end` is in it, or until the connection has ended. */
async function until(socket: Socket, end?: string): Promise<string> {
  let all = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    all += String(chunk);
    if (end !== undefined && all.includes(end)) break;
  }
  return all;
}
async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  for (let each = 0; each < count; each++) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
  }
  const free = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return free;
}

describe('the HTTPS port', () => {
  test('answers who is known, and tells everybody else nothing', async () => {
    start({ authorizationMode: 'AlwaysAllow' });
    await serving(3);
    assert.deepEqual(await get('/pods?a=1', admin).then(({ status, body }) => [status, body]), [200, 'pods a=1']);
    const strangers: readonly (readonly [string, Partial<PemPair>])[] = [
      ['nobody', {}],
      ['a wrong CA', aCa('client-ca').issue({ commonName: 'admin' })],
      ['an expired certificate', clientCa.issue({ commonName: 'admin', notAfterMs: Date.now() - 1000 })],
      ['a server’s own certificate', shown],
    ];
    for (const [who, pair] of strangers) {
      for (const path of ['/pods', '/healthz', '/nothing', '/exec/a/b/c', '/metrics', '/']) {
        const { status, body } = await get(path, pair);
        assert.deepEqual([status, body], [401, 'Unauthorized'], `${who} ${path}`);
      }
    }
  });

  test('asks who it is before it looks at what was asked for, also where that cannot be meant', async () => {
    start();
    await serving(3);
    for (const target of [
      '//pods',
      '/./pods',
      '/logs/%2e%2e/exec',
      '/logs/..%2Fexec/',
      '/%zz',
      '*',
      'node:443',
      `/${'a/'.repeat(10_000)}`,
    ]) {
      for (const [method, headers] of [
        ['GET', ''],
        ['OPTIONS', ''],
        ['PATCH', 'Content-Length: 9999999\r\n'],
        ['GET', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
        ['POST', 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n'],
        ['GET', 'Expect: the worst\r\n'],
        ['CONNECT', ''],
      ] as const) {
        // The parser itself knows no such target for other methods, and no other target for this one.
        if ((method === 'CONNECT') !== (target === 'node:443')) continue;
        const stranger = await tls(aCa('client-ca').issue({ commonName: 'admin' }));
        stranger.on('error', () => {});
        stranger.write(`${method} ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
        assert.match(await until(stranger), /^HTTP\/1\.1 401 [^]*\r\n\r\nUnauthorized$/, `${method} ${target} ${headers}`);
      }
    }
  });

  test('tells those who are let in what is wrong with what they asked for', async () => {
    start();
    await serving(3);
    assert.equal((await get('//pods', admin)).status, 301);
    assert.equal((await get('/%zz', admin)).status, 400);
    assert.equal((await get(`/${'a/'.repeat(10_000)}`, admin)).status, 400);
    assert.equal((await get(`/pods?${'a&'.repeat(20_000)}`, admin)).status, 400);
    assert.equal((await get(`/pods?${'a&'.repeat(19_000)}`, admin)).status, 200);
  });

  test('takes a command line of a megabyte from who has shown a certificate, and no more than 32 KiB from others', async () => {
    start({ anonymousAuth: true });
    await serving(3);
    const ask = (length: number): string => `GET /pods?command=${'x'.repeat(length)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    const answered = async (length: number, pair?: PemPair): Promise<string> => {
      const from = pair === undefined ? {} : { cert: pair.certificatePem, key: pair.keyPem };
      const socket = connectTls({ host: '127.0.0.1', port: ports.https, ca: serverCa.pem, ...from });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      socket.write(ask(length));
      return (await until(socket)).slice(0, 12);
    };
    assert.equal(await answered(1_000_000, admin), 'HTTP/1.1 200');
    assert.equal(await answered(1_100_000, admin), 'HTTP/1.1 431');
    assert.equal(await answered(30_000), 'HTTP/1.1 200');
    assert.equal(await answered(34_000), 'HTTP/1.1 431');
    // Whoever comes last does not change the bound of who was there before.
    const early = await tls();
    await tls(aCa('client-ca').issue({ commonName: 'admin' }));
    early.write(ask(1_000_000));
    assert.equal((await until(early)).slice(0, 12), 'HTTP/1.1 200');
  });

  test('answers requests of one connection in turn, and closes it on a client that sends many without waiting', async () => {
    const begun: string[] = [];
    const free = Promise.withResolvers<void>();
    const slow: Route = {
      methods: ['GET'],
      path: '/slow/{n}',
      handle: async ({ params }, response) => {
        begun.push(params['n'] ?? '');
        await free.promise;
        response.end(`answer ${params['n']}\n`);
      },
    };
    start({}, { routes: [slow] });
    await serving(3);
    const pipelined = (count: number): string =>
      Array.from({ length: count }, (_, n) => `GET /slow/${n} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
    const greedy = await tls();
    greedy.on('error', () => {});
    greedy.write(pipelined(2_000));
    await new Promise((resolve) => greedy.resume().once('close', resolve));
    assert.ok(begun.length <= 1, `${begun.length} were begun`);
    begun.length = 0;
    const modest = await tls();
    modest.write(pipelined(3));
    while (begun.length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(begun, ['0']);
    free.resolve();
    assert.match(await until(modest, 'answer 2'), /answer 0[^]*answer 1[^]*answer 2/);
    modest.destroy();
  });

  test('lets nobody be crowded out by connections of others that are let in on nothing', async () => {
    start({}, { openFiles: 400 });
    await serving(3);
    const guest = await tls();
    guest.write('GET /pods HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(guest, 'pods');
    const idle = Array.from({ length: 200 }, () => connect(ports.https, '127.0.0.1').on('error', () => {}));
    const closed = idle.slice(0, 150).map((socket) => once(socket.resume(), 'close'));
    await Promise.all(closed);
    assert.equal((await get('/pods', admin)).status, 200);
    guest.write('GET /pods?again HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(guest, 'pods again');
    guest.destroy();
    for (const socket of idle) socket.destroy();
  });

  test('lets a bad certificate be nobody only where the kubelet does: never', async () => {
    start({ anonymousAuth: true });
    await serving(3);
    assert.equal((await get('/pods')).status, 200);
    assert.equal((await get('/pods', aCa('client-ca').issue({ commonName: 'admin' }))).status, 401);
  });

  test('without a CA nobody is asked for a certificate, and without any way in everybody is refused and the log says so', async () => {
    start({ clientCaFile: '' });
    await serving(3);
    assert.equal((await get('/pods', admin)).status, 401);
    assert.equal(log.count('HTTPS port closed to all clients: no way of authentication is configured'), 1);
  });

  test('asks the cluster what users may do', async () => {
    const asked: unknown[] = [];
    const api: Pick<KubeApi, 'request'> = {
      request: async <T>({ body }: { readonly body?: unknown }): Promise<T> => {
        asked.push(body);
        return { status: { allowed: false } } as T;
      },
    };
    start({ authorizationMode: 'Webhook' }, { api });
    await serving(3);
    const { status, body } = await get('/pods', admin);
    assert.deepEqual([status, body], [403, 'Forbidden (user=admin, verb=get, resource=nodes, subresource=proxy)']);
    assert.equal(asked.length, 2);
    assert.match(JSON.stringify(asked[0]), /"groups":\["system:masters","x","system:authenticated"\]/);
  });

  test('counts what comes, streams until they have ended', async () => {
    const counted: string[] = [];
    const streamEnded = Promise.withResolvers<void>();
    const nameOf = ({ labels: { method, path, serverType } }: ServedRequest): string => `${serverType} ${method} ${path}`;
    const tell: KubeletServerDeps['tell'] = {
      requestBegun: (request) => void counted.push(`begin ${nameOf(request)}`),
      requestEnded: (request) => {
        counted.push(`end ${nameOf(request)}`);
        if (request.labels.path === 'exec') streamEnded.resolve();
      },
    };
    start({}, { tell });
    await serving(3);
    await get('/pods', admin);
    const socket = await tls();
    socket.write('POST /exec/a/b/c HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
    await until(socket, '\r\n\r\n');
    assert.deepEqual(counted, ['begin readwrite GET pods', 'end readwrite GET pods', 'begin readwrite POST exec']);
    socket.destroy();
    await streamEnded.promise;
    assert.equal(counted.length, 4);
  });

  test('without a cluster to ask, what users may do is nothing', async () => {
    start({ authorizationMode: 'Webhook' });
    await serving(3);
    assert.equal((await get('/pods', admin)).status, 403);
    assert.equal(log.count('HTTPS port closed to all clients: no cluster to ask for access reviews'), 1);
  });

  test('shows a new certificate to new connections', async () => {
    start();
    await serving(3);
    const names = async (): Promise<unknown> => (await tls()).once('data', () => {}).getPeerCertificate().subject.CN;
    assert.equal(await names(), 'node');
    pairs.next(serverCa.issue({ commonName: 'node-2', hosts: ['127.0.0.1'] }));
    assert.equal(await names(), 'node-2');
    pairs.next({ certificatePem: 'nonsense', keyPem: 'nonsense' });
    assert.equal(await names(), 'node-2');
    assert.equal(log.count('serving certificate not usable, keeping the previous one'), 1);
  });

  test('has nothing to show before there is a certificate: handshakes fail, and the server goes on', async () => {
    const later = new ReplaySubject<ServingPair>(1);
    start({}, { certificate: { pairs: later } });
    await serving(3);
    await assert.rejects(tls());
    later.next(shown);
    assert.equal((await get('/pods', admin)).status, 200);
  });

  test('speaks no older TLS and no other suites than it is told', async () => {
    start({ tlsMinVersion: 'VersionTLS12', tlsCipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_RSA_WITH_RC4_128_SHA'] });
    await serving(3);
    assert.equal(log.count('weak cipher suites ignored'), 1);
    assert.equal((await get('/pods', { ...admin, maxVersion: 'TLSv1.2' } as RequestOptions)).status, 200);
    await assert.rejects(get('/pods', { ...admin, maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' } as RequestOptions));
    await assert.rejects(
      get('/pods', { ...admin, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as RequestOptions),
    );
  });

  test('agrees on keys once a connection', async () => {
    start();
    await serving(3);
    const ca = { ca: serverCa.pem, cert: admin.certificatePem, key: admin.keyPem };
    const socket = connectTls({ host: '127.0.0.1', port: ports.https, ...ca, maxVersion: 'TLSv1.2' });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    const again = new Promise((resolve) => {
      socket.once('close', () => resolve('closed'));
      socket.renegotiate({}, (error) => resolve(error === null ? 'agreed again' : 'refused'));
    });
    socket.resume();
    assert.notEqual(await again, 'agreed again');
    socket.destroy();
  });

  test('ends the agent when its CA file cannot be read', async () => {
    start({ clientCaFile: join(directory, 'nowhere') });
    const failing = running;
    running = Promise.resolve();
    await assert.rejects(failing, (error) =>
      errorText(error).startsWith(`--client-ca-file: cannot read ${join(directory, 'nowhere')}: ENOENT`),
    );
  });
});

describe('an answer', () => {
  test('to what has no route, or not that method, is the kubelet’s', async () => {
    start();
    await serving(3);
    assert.deepEqual(await get('/nothing', admin).then(({ status, body }) => [status, body]), [404, '404 page not found\n']);
    const { status, body, headers } = await get('/pods', { ...admin, method: 'DELETE' });
    assert.deepEqual([status, body, headers.allow], [405, '405: Method Not Allowed', 'GET']);
    assert.equal((await get('//pods', admin)).headers.location, '/pods');
    assert.deepEqual(await get('/exec/a/b/c', admin).then((answer) => [answer.status, answer.body]), [400, 'Upgrade request required']);
  });

  test('to an error is its status, or 500 with its words', async () => {
    start();
    await serving(3);
    assert.deepEqual(await get('/teapot', admin).then(({ status, body }) => [status, body]), [418, 'short and stout']);
    assert.deepEqual(await get('/crash', admin).then(({ status, body }) => [status, body]), [500, 'outer: inner']);
    assert.equal(log.count('request failed'), 1);
  });

  test('is the plain one where a client offers HTTP/2 on the way', async () => {
    start();
    await serving(3);
    const { status, body } = await get('/pods', {
      ...admin,
      headers: { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAA' },
    });
    assert.deepEqual([status, body], [200, 'pods ']);
  });
});

describe('an upgrade', () => {
  const ask = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n`;
  test('is let in by the same rules, and reaches its route with the socket', async () => {
    start();
    await serving(3);
    const socket = await tls();
    socket.write(ask('/exec/a/b/c'));
    assert.match(await until(socket, '\r\n\r\n'), /^HTTP\/1\.1 101 Switching Protocols\r\n/);
    socket.write('ping');
    assert.equal(await until(socket, 'ping'), 'ping');
    socket.destroy();
    const stranger = await tls(aCa('client-ca').issue({ commonName: 'admin' }));
    stranger.write(ask('/exec/a/b/c'));
    assert.match(await until(stranger), /^HTTP\/1\.1 401 Unauthorized\r\n[^]*\r\n\r\nUnauthorized$/);
  });

  for (const [path, answer] of [
    ['/exec/a/missing/c', /^HTTP\/1\.1 404 Not Found\r\n[^]*\r\n\r\npod does not exist$/],
    ['/exec/a/broken/c', /^HTTP\/1\.1 500 Internal Server Error\r\n[^]*\r\n\r\nbroken inside$/],
  ] as const) {
    test(`of ${path} is answered on the connection, which ends`, async () => {
      start();
      await serving(3);
      const socket = await tls();
      socket.write(ask(path));
      assert.match(await until(socket), answer);
    });
  }

  test('of what cannot be upgraded is an ordinary request', async () => {
    start();
    await serving(3);
    const socket = await tls();
    socket.write(ask('/nothing').replace('SPDY/3.1', 'h2c'));
    assert.match(await until(socket, 'page not found'), /^HTTP\/1\.1 404 Not Found/);
    socket.destroy();
  });
});

describe('the other listeners', () => {
  test('healthz answers health and nothing else, to everybody', async () => {
    start();
    await serving(3);
    assert.deepEqual(await plain(ports.healthz, '/healthz').then(({ status, body }) => [status, body]), [200, 'ok']);
    assert.equal((await plain(ports.healthz, '/pods')).status, 404);
  });

  test('the read-only port has what is read-only, and no way into containers', async () => {
    start({ readOnlyPort: ports.readOnly });
    await serving(4);
    assert.equal((await plain(ports.readOnly, '/pods')).status, 200);
    assert.deepEqual(await plain(ports.readOnly, '/exec/a/b/c', 'POST').then(({ status, body }) => [status, body]), [
      405,
      'Debug endpoints are disabled.\n',
    ]);
    assert.equal((await plain(ports.readOnly, '/teapot')).status, 404);
  });

  test('without the server there are health and the local socket', async () => {
    start({ enableServer: false, readOnlyPort: ports.readOnly });
    await serving(2);
    assert.equal((await plain(ports.healthz, '/healthz')).status, 200);
    assert.equal((await local('/pods')).status, 200);
    await assert.rejects(plain(ports.readOnly, '/pods'), { code: 'ECONNREFUSED' });
  });

  test('without debugging handlers the HTTPS port says so, and the local socket has them', async () => {
    start({ enableDebuggingHandlers: false });
    await serving(3);
    assert.deepEqual(await get('/exec/a/b/c', admin).then(({ status, body }) => [status, body]), [405, 'Debug endpoints are disabled.\n']);
    assert.equal((await local('/exec/a/b/c')).status, 400);
  });
});

for (const [field, closed, message] of [
  ['enableSystemLogHandler', ['/logs', '/logs/', '/logs/syslog'], 'logs endpoint is disabled.\n'],
  ['enableProfilingHandler', ['/debug/pprof/', '/debug/pprof/heap', '/debug/pprof/profile?seconds=1'], 'profiling endpoint is disabled.\n'],
  ['enableDebugFlagsHandler', ['/debug/flags/v'], 'flags endpoint is disabled.\n'],
] as const) {
  test(`${field}: false in the config file closes ${closed[0]} to everybody but the owner of the local socket`, async () => {
    const file = `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${field}: false\n`;
    const read = { hostname: 'n', terminal: false, readFile: async () => file };
    const { options, warnings } = await loadOptions(['--config=kubelet.yaml'], read);
    assert.deepEqual(warnings, []);
    const { enableSystemLogHandler, enableProfilingHandler, enableDebugFlagsHandler } = options;
    const real = [...nodeLogRoutes({ directory }), ...debugRoutes({ clock: systemClock, verbosity: new Verbosity(0) })];
    start({ enableSystemLogHandler, enableProfilingHandler, enableDebugFlagsHandler }, { routes: real });
    await serving(3);
    for (const path of closed) {
      for (const method of ['GET', 'POST', 'PUT']) {
        const { status, body } = await get(path, { ...admin, method });
        assert.deepEqual([status, body], [405, message], `${method} ${path}`);
      }
    }
    const open = ['/logs/', '/debug/pprof/', '/debug/flags/v'].filter((path) => !closed.some((each) => each === path));
    for (const path of open) assert.doesNotMatch((await get(path, admin)).body, /disabled/, path);
    for (const path of ['/logs/', '/debug/pprof/', '/debug/flags/v']) assert.doesNotMatch((await local(path)).body, /disabled/, path);
  });
}

describe('the local socket', () => {
  test('is for its owner alone, lets in without asking, and goes with the agent', async () => {
    start();
    await serving(3);
    const { mode } = await lstat(join(directory, 'rxlet.sock'));
    assert.equal(mode & 0o777, 0o600);
    assert.equal((await local('/pods')).status, 200);
    stop.abort();
    await running;
    assert.deepEqual((await readdir(directory)).toSorted(), ['ca.pem']);
  });

  test('takes the place of one that an agent left behind', async () => {
    const path = join(directory, 'rxlet.sock');
    const stale = createServer().listen(join(directory, 'stale'));
    await once(stale, 'listening');
    const { rename } = await import('node:fs/promises');
    await rename(join(directory, 'stale'), path);
    await new Promise((closed) => stale.close(closed));
    await chmod(path, 0o666);
    start();
    await serving(3);
    assert.equal((await local('/pods')).status, 200);
    assert.equal((await lstat(path)).mode & 0o777, 0o600);
  });

  test('is not taken from another agent, nor put in the place of a file', async () => {
    const path = join(directory, 'rxlet.sock');
    const other = createServer().listen(path);
    await once(other, 'listening');
    start();
    const { fields } = await log.next('cannot listen, retrying');
    assert.match(String(fields['error']), /another process listens on/);
    stop.abort();
    await running;
    await new Promise((closed) => other.close(closed));
    await writeFile(path, 'mine');
    stop = new AbortController();
    start();
    const again = await log.next('cannot listen, retrying');
    assert.match(String(again.fields['error']), /it is no socket/);
  });
});

describe('a port that is taken', () => {
  const take = async (port: number): Promise<Server> => {
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    return other;
  };
  test('ends the agent when it was asked for, with words that name it', async () => {
    const other = await take(ports.https);
    start();
    const failing = running;
    running = Promise.resolve();
    await assert.rejects(failing, {
      message: `port ${ports.https} on 127.0.0.1 is taken by another process: end it (a kubelet on the same machine?), or choose another port with --port`,
    });
    await new Promise((closed) => other.close(closed));
  });
  test('is waited for when nobody asked for it and there is no cluster', async () => {
    const other = await take(ports.https);
    start({}, {}, { address: 'default', port: 'default' });
    await log.next('cannot listen, retrying');
    await new Promise((closed) => other.close(closed));
    await serving(3);
    assert.equal((await get('/pods', admin)).status, 200);
  });
});

test('without a cluster nothing listens beyond loopback unless an address was asked for', () => {
  const options = { address: '0.0.0.0' } as ServerOptions;
  const api = { request: () => Promise.reject(new Error('unused')) };
  const origins = (address: 'flag' | 'file' | 'default') => ({ address }) as ServerOptionOrigins;
  assert.equal(servingAddress({ options, origins: origins('default'), api: undefined }), '127.0.0.1');
  assert.equal(servingAddress({ options, origins: origins('flag'), api: undefined }), '0.0.0.0');
  assert.equal(servingAddress({ options, origins: origins('file'), api: undefined }), '0.0.0.0');
  assert.equal(servingAddress({ options, origins: origins('default'), api }), '0.0.0.0');
});

describe('bad clients:', () => {
  test('idle connections, twenty times as many as there is room for, keep nobody from being served, and end with the server', async () => {
    start({}, { openFiles: 800 });
    await serving(3);
    const ends: Promise<unknown>[] = [];
    for (let each = 0; each < 1000; each++) {
      const socket = connect(ports.healthz, '127.0.0.1');
      socket.on('error', () => {});
      ends.push(new Promise((resolve) => socket.resume().once('close', resolve)));
      await once(socket, 'connect');
    }
    assert.equal((await plain(ports.healthz, '/healthz')).status, 200);
    stop.abort();
    await running;
    await Promise.all(ends);
  });

  for (const [what, sent, answer] of [
    ['oversized headers', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1024 * 1024)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['an oversized request line', `GET /${'x'.repeat(1024 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['what is no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a malformed header', 'GET /healthz HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a malformed escape', 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['two lengths', 'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['an oversized body', `POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 ** 40}\r\n\r\n`, /^HTTP\/1\.1 413 /],
  ] as const) {
    test(`${what} is answered and the connection ends`, async () => {
      start();
      await serving(3);
      const socket = connect(ports.healthz, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(sent);
      assert.match(await until(socket, '\r\n\r\n'), answer);
      socket.destroy();
      assert.equal((await plain(ports.healthz, '/healthz')).status, 200);
    });
  }

  test('one that stops reading holds back its own answer only, and is cut off in time', async () => {
    start({ streamingConnectionIdleTimeoutMs: 300 });
    await serving(3);
    const slow = connect(join(directory, 'rxlet.sock'));
    slow.on('error', () => {});
    const before = process.memoryUsage().rss;
    slow.write('GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.equal((await local('/pods')).status, 200);
    assert.equal(await flooded.promise, '/flood');
    assert(process.memoryUsage().rss - before < 50 * 2 ** 20);
    slow.destroy();
  });

  test('what is under way is told to end when the server stops, and ends in good order', async () => {
    start();
    await serving(3);
    const request = httpRequest({ socketPath: join(directory, 'rxlet.sock'), path: '/containerLogs/a/b/c', agent: false }).end();
    const [response]: IncomingMessage[] = await once(request, 'response');
    assert(response);
    stop.abort();
    assert.equal(await text(response), 'first\nlast\n');
    await running;
    assert.deepEqual(told, ['/containerLogs/a/b/c']);
  });

  test('streams that do not end are closed with the server', async () => {
    start();
    await serving(3);
    const socket = await tls();
    socket.write('POST /exec/a/b/c HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
    await until(socket, '\r\n\r\n');
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    stop.abort();
    await running;
    await closed;
  });
});

after(() => {
  const handles = process.getActiveResourcesInfo().filter((name) => name.includes('Server'));
  assert.deepEqual(handles, []);
});

describe('the page', () => {
  const page = async (path: string, more: RequestOptions = {}): Promise<readonly [status: number, body: string]> => {
    const { status, body } = await answerOf(httpRequest({ host: '127.0.0.1', port: pagePort(), path, agent: false, ...more }));
    return [status, body];
  };
  const pagePort = (): number => Number(log.lines.find(({ message, fields }) => message === 'serving' && 'port' in fields)?.fields['port']);
  /** An API server that knows one token, whose owner may do all. */
  const reviewing = (known: string): Pick<KubeApi, 'request'> => ({
    request: async <T>({ path, body }: Parameters<KubeApi['request']>[0]) => {
      const authenticated = JSON.stringify(body).includes(JSON.stringify(known));
      const status = path.endsWith('tokenreviews') ? { authenticated, user: { username: 'jo' } } : { allowed: true };
      return { status } as T;
    },
  });

  test('is served where it was asked for, with what it shows and nothing else', async () => {
    start({ pageAddress: '127.0.0.1:0', enableServer: false, healthzPort: 0 });
    await serving(2);
    assert.deepEqual(await page('/page'), [200, 'page']);
    assert.deepEqual(await page('/page/x.js'), [200, 'file']);
    assert.deepEqual(await page('/why'), [200, 'why']);
    assert.deepEqual(await page('/page', { method: 'HEAD' }), [200, '']);
    for (const path of ['/pods', '/healthz', '/containerLogs/a/b/c', '/teapot', '/flood']) assert.equal((await page(path))[0], 404, path);
    assert.equal((await page('/exec/a/b/c', { method: 'POST', headers: { Connection: 'Upgrade', Upgrade: 'websocket' } }))[0], 404);
    assert.equal((await page('/why', { method: 'POST' }))[0], 405);
    const root = await answerOf(httpRequest({ host: '127.0.0.1', port: pagePort(), agent: false }));
    assert.deepEqual([root.status, root.headers.location], [307, '/page']);
  });

  test('is not for other sites, nor by a name that a name server may lead here', async () => {
    start({ pageAddress: '127.0.0.1:0', enableServer: false, healthzPort: 0 });
    await serving(2);
    for (const headers of [{ Host: 'example.org' }, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'http://example.org' }])
      for (const path of ['/', '/page', '/why', '/nothing']) assert.equal((await page(path, { headers }))[0], 403, JSON.stringify(headers));
    const socketPath = join(directory, 'rxlet.sock');
    for (const path of ['/page', '/pods'])
      assert.equal((await answerOf(httpRequest({ socketPath, path, agent: false, headers: { Host: 'example.org' } }))).status, 403, path);
  });

  test('shows in a cluster nothing of the node to who has no token that may see it', async () => {
    start({ pageAddress: '127.0.0.1:0', enableServer: false, healthzPort: 0, authorizationMode: 'Webhook' }, { api: reviewing('good') });
    await serving(2);
    assert.deepEqual(await page('/page'), [200, 'page']);
    assert.deepEqual(await page('/page/x.js'), [200, 'file']);
    assert.deepEqual(await page('/why'), [401, 'Unauthorized']);
    assert.deepEqual(await page('/nothing'), [401, 'Unauthorized']);
    assert.deepEqual(await page('/why', { headers: { Authorization: 'Bearer good' } }), [200, 'why']);
    assert.equal((await page('/why', { headers: { Authorization: 'Bearer other' } }))[0], 401);
  });

  test('waits for its port where that is taken: the pods matter more', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    start({ pageAddress: `127.0.0.1:${port}`, enableServer: false, healthzPort: 0 });
    const line = await log.next('cannot listen, retrying');
    assert.match(String(line.fields['error']), /port \d+ on 127\.0\.0\.1 is taken .* choose another port with --page-address/);
    await new Promise((closed) => other.close(closed));
  });
});
