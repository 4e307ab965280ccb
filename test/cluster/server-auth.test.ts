import assert from 'node:assert/strict';
import { randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { firstValueFrom, of } from 'rxjs';
import { systemClock } from '../../src/base/clock.ts';
import { servingCertificate } from '../../src/cluster/certificates/serving-certificate.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import { kubeletServer } from '../../src/server/kubelet-server.ts';
import type { Route } from '../../src/ports/route.ts';
import type { ServerOptions } from '../../src/server/server-options.ts';
import { aCa, type PemPair } from '../builders/a-pki.ts';
import { connectAs } from '../builders/clients-under-test.ts';
import { clusterDirectory, kubectl, nodeKubeconfig } from '../builders/cluster-under-test.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';
import { notTraced } from '../../src/ports/tracing.ts';

const nodeName = `auth-${randomUUID().slice(0, 8)}`;
const SECRET = 'what only some may read';
const serverCa = aCa('server-ca');
const clientCa = aCa('client-ca');

type Subresource = 'proxy' | 'stats' | 'log' | 'metrics' | 'spec' | 'checkpoint' | 'pods' | 'healthz' | 'configz';
/** Every kind of thing that a node serves; the last column is what opens it. */
const endpoints: readonly (readonly ['GET' | 'POST' | 'PUT', string, string, readonly Subresource[]])[] = [
  ['GET', '/healthz', '/healthz', ['healthz', 'proxy']],
  ['GET', '/healthz/syncloop', '/healthz/syncloop', ['healthz', 'proxy']],
  ['GET', '/pods', '/pods', ['pods', 'proxy']],
  ['GET', '/runningpods/', '/runningpods/', ['pods', 'proxy']],
  ['GET', '/configz', '/configz', ['configz', 'proxy']],
  ['GET', '/containerLogs/{n}/{p}/{c}', '/containerLogs/a/b/c?follow=true', ['proxy']],
  ['POST', '/run/{n}/{p}/{c}', '/run/a/b/c?cmd=id', ['proxy']],
  ['GET', '/debug/pprof/{rest*}', '/debug/pprof/heap', ['proxy']],
  ['PUT', '/debug/flags/v', '/debug/flags/v', ['proxy']],
  ['GET', '/logs/{rest*}', '/logs/', ['log']],
  ['GET', '/metrics', '/metrics', ['metrics']],
  ['GET', '/metrics/cadvisor', '/metrics/cadvisor', ['metrics']],
  ['GET', '/metrics/resource', '/metrics/resource', ['metrics']],
  ['GET', '/metrics/probes', '/metrics/probes', ['metrics']],
  ['GET', '/stats/summary', '/stats/summary', ['stats']],
  ['GET', '/spec/', '/spec/', ['spec']],
  ['POST', '/checkpoint/{n}/{p}/{c}', '/checkpoint/a/b/c', ['checkpoint']],
];
const upgrades: readonly (readonly ['GET' | 'POST', string, string])[] = [
  '/exec/{n}/{p}/{c}',
  '/attach/{n}/{p}/{c}',
  '/portForward/{n}/{p}',
].flatMap((path) => (['GET', 'POST'] as const).map((method) => [method, path, path.replace(/\{\w\}/g, 'a')] as const));
const routes: readonly Route[] = [
  ...endpoints.map(([method, path]): Route => ({ methods: [method], path, handle: async (_, response) => void response.end(SECRET) })),
  ...upgrades.map(([method, path]): Route => ({
    methods: [method],
    path,
    upgrade: async (_, socket) =>
      void socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\nX: ${SECRET}\r\n\r\n`),
  })),
];

/** What somebody shows. */
interface Visitor extends Partial<PemPair> {
  readonly token?: string;
}

let directory: string;
let clients: OwnedKubeClients;
let stop: AbortController;
const running: Promise<void>[] = [];
let strictPort: number;
let openPort: number;
const tokens = new Map<string, string>();

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-auth-'));
  await writeFile(join(directory, 'ca.pem'), clientCa.pem);
  stop = new AbortController();
  clients = await connectAs(await nodeKubeconfig(nodeName));
  await kubectl('create', 'namespace', nodeName);
  await account('without');
  for (const [name, ...subresources] of [
    ['proxy', 'proxy'],
    ['prometheus', 'metrics', 'stats'],
    ['reader', 'pods', 'healthz', 'log', 'configz'],
    ['all', 'proxy', 'metrics', 'stats', 'log', 'spec', 'checkpoint'],
  ] as const) {
    await account(name);
    const role = `${nodeName}-${name}`;
    const resources = subresources.map((subresource) => `--resource=nodes/${subresource}`);
    await kubectl('create', 'clusterrole', role, '--verb=get,create,update', ...resources, `--resource-name=${nodeName}`);
    await kubectl('create', 'clusterrolebinding', role, `--clusterrole=${role}`, `--serviceaccount=${nodeName}:${name}`);
  }
  [strictPort, openPort] = [await serve({}), await serve({ anonymousAuth: true })];
});
after(async () => {
  stop.abort();
  await Promise.all(running);
  await clients.close();
  await kubectl('delete', 'namespace', nodeName, '--wait=false');
  for (const kind of ['clusterrole', 'clusterrolebinding']) {
    const all = (await kubectl('get', kind, '-o', 'name')).split('\n').filter((name) => name.includes(`/${nodeName}-`));
    if (all.length > 0) await kubectl('delete', ...all);
  }
  await rm(directory, { recursive: true });
});

async function account(name: string): Promise<void> {
  await kubectl('create', 'serviceaccount', name, '-n', nodeName);
  const order = join(directory, 'token.json');
  await writeFile(order, JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }));
  const answer: unknown = JSON.parse(
    await kubectl('create', '--raw', `/api/v1/namespaces/${nodeName}/serviceaccounts/${name}/token`, '-f', order),
  );
  assert(typeof answer === 'object' && answer !== null && 'status' in answer);
  const { status } = answer;
  assert(typeof status === 'object' && status !== null && 'token' in status);
  tokens.set(name, String(status.token));
}

async function serve(options: Partial<ServerOptions>, certificate?: Parameters<typeof kubeletServer>[0]['certificate']): Promise<number> {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  await new Promise((closed) => free.close(closed));
  const log = new RecordingLogger();
  const rootDir = await mkdtemp(join(directory, 'root-'));
  const service = kubeletServer({
    options: {
      rootDir,
      enableServer: true,
      address: '127.0.0.1',
      port,
      readOnlyPort: 0,
      healthzBindAddress: '127.0.0.1',
      healthzPort: 0,
      pageAddress: '',
      enableDebuggingHandlers: true,
      enableSystemLogHandler: true,
      enableProfilingHandler: true,
      enableDebugFlagsHandler: true,
      streamingConnectionIdleTimeoutMs: 0,
      clientCaFile: join(directory, 'ca.pem'),
      anonymousAuth: false,
      authenticationTokenWebhook: true,
      authenticationTokenWebhookCacheTtlMs: 120_000,
      authorizationMode: 'Webhook',
      authorizationWebhookCacheAuthorizedTtlMs: 300_000,
      authorizationWebhookCacheUnauthorizedTtlMs: 30_000,
      tlsMinVersion: 'VersionTLS12',
      tlsCipherSuites: [],
      tlsCurvePreferences: [],
      ...options,
    },
    origins: { address: 'flag', port: 'flag', authenticationTokenWebhook: 'default' },
    routes,
    api: clients.reviews,
    certificate: certificate ?? { pairs: of(serverCa.issue({ commonName: nodeName, hosts: ['127.0.0.1'] })) },
    tell: { requestBegun: () => {}, requestEnded: () => {} },
    tracing: notTraced,
    onListening: () => {},
    nodeName,
    openFiles: 4_096,
    clock: systemClock,
    log,
  });
  running.push(service.run(stop.signal));
  while (log.count('serving') < 2) await log.next('serving');
  return port;
}

async function ask(
  port: number,
  who: Visitor,
  method: string,
  path: string,
  upgrade = false,
  ca = serverCa.pem,
): Promise<readonly [number, string]> {
  const headers = {
    ...(who.token === undefined ? {} : { Authorization: `Bearer ${who.token}` }),
    ...(upgrade ? { Connection: 'Upgrade', Upgrade: 'SPDY/3.1' } : {}),
  };
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    ca,
    agent: false,
    headers,
    cert: who.certificatePem,
    key: who.keyPem,
  }).end();
  const answered = await Promise.race([once(sent, 'response'), once(sent, 'upgrade')]);
  const [response]: IncomingMessage[] = answered;
  assert(response);
  if (response.statusCode === 101) {
    answered[1].destroy();
    return [101, String(response.headers['x'])];
  }
  return [response.statusCode ?? 0, await text(response)];
}

const all = [
  ...endpoints.map(([method, , path, opens]) => ({ method, path, opens, upgrade: false, opened: 200 })),
  ...upgrades.map(([method, , path]) => ({ method, path, opens: ['proxy'] as readonly Subresource[], upgrade: true, opened: 101 })),
];
const verbs: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update' };
const tokenOf = (name: string): Visitor => ({ token: tokens.get(name) ?? '' });

describe('nobody comes in with', () => {
  const strangers: readonly (readonly [string, () => Visitor])[] = [
    ['nothing', () => ({})],
    ['a certificate of another CA', () => aCa('client-ca').issue({ commonName: 'admin', organizations: ['system:masters'] })],
    [
      'an expired certificate',
      () => clientCa.issue({ commonName: 'admin', organizations: ['system:masters'], notAfterMs: Date.now() - 1_000 }),
    ],
    ['a token that nobody has issued', () => ({ token: 'eyJhbGciOiJSUzI1NiJ9.e30.AAAA' })],
  ];
  for (const [what, who] of strangers) {
    test(what, async () => {
      for (const { method, path, upgrade } of [...all, { method: 'GET', path: '/unknown', upgrade: false }]) {
        assert.deepEqual(await ask(strictPort, who(), method, path, upgrade), [401, 'Unauthorized'], `${method} ${path}`);
      }
    });
  }
});

describe('a user comes as far as the cluster says:', () => {
  const users: readonly (readonly [string, () => Visitor, string, readonly Subresource[], number?])[] = [
    ['a token without rights', () => tokenOf('without'), `system:serviceaccount:${nodeName}:without`, []],
    ['a certificate without rights', () => clientCa.issue({ commonName: 'jo' }), 'jo', []],
    ['a token for the proxy', () => tokenOf('proxy'), `system:serviceaccount:${nodeName}:proxy`, ['proxy']],
    ['a token for metrics', () => tokenOf('prometheus'), `system:serviceaccount:${nodeName}:prometheus`, ['metrics', 'stats']],
    [
      'a token for the finer rights',
      () => tokenOf('reader'),
      `system:serviceaccount:${nodeName}:reader`,
      ['pods', 'healthz', 'log', 'configz'],
    ],
    [
      'a token for everything',
      () => tokenOf('all'),
      `system:serviceaccount:${nodeName}:all`,
      ['proxy', 'metrics', 'stats', 'log', 'spec', 'checkpoint'],
    ],
    [
      'a certificate of system:masters',
      () => clientCa.issue({ commonName: 'root', organizations: ['system:masters'] }),
      'root',
      ['proxy', 'metrics', 'stats', 'log', 'spec', 'checkpoint'],
    ],
  ];
  for (const [what, who, name, rights] of users) {
    test(what, async () => {
      const visitor = who();
      for (const { method, path, opens, upgrade, opened } of all) {
        const expected = opens.some((subresource) => rights.includes(subresource))
          ? [opened, SECRET]
          : [403, `Forbidden (user=${name}, verb=${verbs[method]}, resource=nodes, subresource=${opens.at(-1)})`];
        assert.deepEqual(await ask(strictPort, visitor, method, path, upgrade), expected, `${method} ${path}`);
      }
    });
  }

  test('whoever is anonymous, where that is allowed, has no rights either', async () => {
    for (const { method, path, opens, upgrade } of all) {
      const message = `Forbidden (user=system:anonymous, verb=${verbs[method]}, resource=nodes, subresource=${opens.at(-1)})`;
      assert.deepEqual(await ask(openPort, {}, method, path, upgrade), [403, message]);
    }
    const stranger = aCa('client-ca').issue({ commonName: 'admin', organizations: ['system:masters'] });
    assert.deepEqual(await ask(openPort, stranger, 'GET', '/pods'), [401, 'Unauthorized']);
  });
});

test('a serving certificate is asked of the cluster, and what its CA trusts reaches the node', async () => {
  const log = new RecordingLogger();
  const certificate = servingCertificate({
    options: { certDir: join(directory, 'pki'), tlsCertFile: '', tlsPrivateKeyFile: '', rotateServerCertificates: true },
    nodeName,
    addresses: () => [
      { type: 'InternalIP', address: '127.0.0.1' },
      { type: 'Hostname', address: nodeName },
    ],
    clients: () => ({ api: clients.main, informer: clients.informer }),
    clock: systemClock,
    log,
    tell: new RecordedHappenings().tell,
    random: Math.random,
  });
  const requested = log.next('serving certificate requested, waiting until it is approved and signed');
  running.push(certificate.run(stop.signal));
  const csr = String((await requested).fields['csr']);
  try {
    await kubectl('certificate', 'approve', csr);
    const pair = await firstValueFrom(certificate.pairs);
    const leaf = new X509Certificate(pair.certificatePem);
    assert.equal(leaf.subject, `O=system:nodes\nCN=system:node:${nodeName}`);
    assert.deepEqual(leaf.subjectAltName?.split(', ').toSorted(), [`DNS:${nodeName}`, 'IP Address:127.0.0.1']);
    const port = await serve({}, certificate);
    const clusterCa = await readFile(join(clusterDirectory(), 'pki/ca.crt'), 'utf8');
    assert.deepEqual(await ask(port, tokenOf('all'), 'GET', '/metrics', false, clusterCa), [200, SECRET]);
  } finally {
    await kubectl('delete', 'csr', csr, '--ignore-not-found');
  }
});
