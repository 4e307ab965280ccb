import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { parse } from 'yaml';
import { bootstrap, type BootstrapDeps, bootstrapReason } from '../../../../src/cluster/certificates/bootstrap.ts';
import { kubeconfigText } from '../../../../src/cluster/certificates/bootstrap-kubeconfig.ts';
import { parseClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import { plainFields } from '../../../../src/base/plain-fields.ts';
import type { PemPair } from '../../../../src/base/pem-pair.ts';
import { ApiError, ApiUnreachableError } from '../../../../src/model/api-error.ts';
import { aClientCertificate, HOUR_MS, signRequest } from '../../../builders/a-client-certificate.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { FakeCsrApi } from '../../../fakes/fake-csr-api.ts';
import { MemoryCertificateStore } from '../../../fakes/memory-certificate-store.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

let directory: string;
let kubeconfigPath: string;
let clock: FakeClock;
let api: FakeCsrApi;
let store: MemoryCertificateStore;
let log: RecordingLogger;
let kubeconfigPair: () => Promise<PemPair | undefined>;
const cluster = { server: 'https://10.0.0.1:6443', caPem: 'the CA' };

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-bootstrap-'));
  kubeconfigPath = join(directory, 'kubelet.conf');
  clock = new FakeClock();
  clock.frame = Date.parse('2026-01-01T00:00:00Z');
  api = new FakeCsrApi();
  api.approver = (pem) => signRequest(pem, { notBeforeMs: clock.now(), notAfterMs: clock.now() + HOUR_MS });
  store = new MemoryCertificateStore();
  log = new RecordingLogger();
  kubeconfigPair = () => Promise.reject(new Error(`kubeconfig ${kubeconfigPath} does not exist`));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
  assert.equal(api.watchers, 0);
  assert.deepEqual(clock.actions, [], 'no timer is left');
});

const deps = (): BootstrapDeps => ({
  store,
  nodeName: 'a',
  clock,
  log,
  kubeconfigPath,
  kubeconfigPair,
  bootstrapKubeconfigPath: '/etc/bootstrap.conf',
  bootstrapClients: () => Promise.resolve({ api: api.api, informer: api.informer, cluster }),
  random: () => 0,
});
const never = new AbortController().signal;
const pairUntil = (notAfterMs: number): PemPair => aClientCertificate({ notBeforeMs: clock.now() - HOUR_MS, notAfterMs });

test('a kubeconfig that serves is left alone, and nobody is asked', async () => {
  kubeconfigPair = () => Promise.resolve(pairUntil(clock.now() + HOUR_MS));
  await bootstrap(deps(), never);
  assert.deepEqual(api.sent, []);
  await assert.rejects(stat(kubeconfigPath), { code: 'ENOENT' });
});

test('what is wrong with a kubeconfig is the reason to bootstrap', async () => {
  const name = `kubeconfig ${kubeconfigPath}`;
  const other = aClientCertificate({ notBeforeMs: 0, notAfterMs: HOUR_MS });
  for (const [pair, reason] of [
    [() => Promise.reject(new Error(`${name} is empty`)), `${name} is empty`],
    [() => Promise.resolve(undefined), `the user of ${name} has no client certificate`],
    [() => Promise.resolve(pairUntil(clock.now())), `the client certificate of ${name} expired at 2026-01-01T00:00:00Z`],
    [
      () => Promise.resolve({ ...pairUntil(clock.now() + HOUR_MS), keyPem: other.keyPem }),
      `the private key in ${name} is not that of the certificate of "system:node:a" in ${name}`,
    ],
  ] as const) {
    assert.equal(await bootstrapReason({ kubeconfigPath, kubeconfigPair: pair, clock }), reason);
  }
});

test('without one, a certificate is asked for and a kubeconfig written that refers to it', async () => {
  await bootstrap(deps(), never);
  const fields = log.lines.find(({ message }) => message === 'client certificate needed, bootstrapping')?.fields ?? {};
  assert.deepEqual(plainFields(fields), { because: `kubeconfig ${kubeconfigPath} does not exist`, by: deps().bootstrapKubeconfigPath });
  assert.equal(store.identity?.commonName, 'system:node:a');
  assert.deepEqual(parse(await readFile(kubeconfigPath, 'utf8')), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: { server: cluster.server, 'certificate-authority-data': Buffer.from(cluster.caPem).toString('base64') },
      },
    ],
    contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' } }],
    'current-context': 'default-context',
    users: [{ name: 'default-auth', user: { 'client-certificate': store.currentPath, 'client-key': store.currentPath } }],
  });
  assert.equal((await stat(kubeconfigPath)).mode & 0o777, 0o600);
  assert.equal(api.closed, 1, 'the connections with the bootstrap credentials are ended');
});

test('a kubeconfig that is a link is written where it leads', async () => {
  const real = join(directory, 'real.conf');
  await writeFile(real, 'broken');
  await symlink(real, kubeconfigPath);
  await bootstrap(deps(), never);
  assert.match(await readFile(real, 'utf8'), /current-context: default-context/);
});

test('a kubeconfig that cannot be written is explained', async () => {
  kubeconfigPath = join(directory, 'a-file', 'kubelet.conf');
  await writeFile(join(directory, 'a-file'), '');
  await assert.rejects(bootstrap(deps(), never), { message: `cannot write the kubeconfig ${kubeconfigPath}` });
});

test('outages are outlasted', async () => {
  api.failures.push(new ApiUnreachableError('no route'), new ApiError(503, '', 'starting'));
  const done = bootstrap(deps(), never);
  await log.next('no client certificate yet');
  await clock.advance(6_000);
  await done;
  const retries = log.lines.filter(({ message }) => message === 'no client certificate yet').map(({ fields }) => fields['retryInMs']);
  assert.deepEqual(retries, [2_000, 4_000]);
});

test('a wait for the next attempt ends with the signal', async () => {
  api.failures.push(new ApiUnreachableError('no route'));
  const stop = new AbortController();
  const done = bootstrap(deps(), stop.signal);
  await log.next('no client certificate yet');
  stop.abort(new Error('stopped'));
  await assert.rejects(done, { message: 'stopped' });
});

test('refused bootstrap credentials are named', async () => {
  api.failures.push(new ApiError(401, 'Unauthorized', 'Unauthorized'));
  await assert.rejects(bootstrap(deps(), never), (error) => {
    assert.ok(error instanceof Error && error.cause instanceof Error);
    assert.equal(error.message, 'bootstrap kubeconfig /etc/bootstrap.conf');
    return error.cause.message.includes('does not accept the credentials');
  });
  assert.equal(api.closed, 1);
});

test('with refused bootstrap credentials a certificate that is still good gets its kubeconfig back', async () => {
  const pair = pairUntil(clock.now() + HOUR_MS);
  store.identity = parseClientIdentity({ text: pair.certificatePem, where: '' }, { text: pair.keyPem, where: '' });
  api.failures.push(new ApiError(401, 'Unauthorized', 'Unauthorized'));
  await bootstrap(deps(), never);
  assert.match(await readFile(kubeconfigPath, 'utf8'), /kubelet-client-current.pem/);
});

test("another node's certificate, or an expired one, does not count", async () => {
  const life = { notBeforeMs: clock.now() - HOUR_MS, notAfterMs: clock.now() + HOUR_MS };
  for (const facts of [
    { ...life, commonName: 'system:node:b' },
    { ...life, notAfterMs: clock.now() },
  ]) {
    const pair = aClientCertificate(facts);
    store.identity = parseClientIdentity({ text: pair.certificatePem, where: '' }, { text: pair.keyPem, where: '' });
    api.failures.push(new ApiError(401, 'Unauthorized', 'Unauthorized'));
    await assert.rejects(bootstrap(deps(), never));
  }
});

test('a missing bootstrap kubeconfig is passed on as its reader says it', async () => {
  const missing = new Error('kubeconfig /etc/bootstrap.conf does not exist');
  await assert.rejects(bootstrap({ ...deps(), bootstrapClients: () => Promise.reject(missing) }, never), missing);
});

test('everything that a cluster has is kept, and a CA that is a file stays one', () => {
  const text = kubeconfigText(
    { server: 'https://x', caFile: '/etc/ca: 1.crt', insecureSkipTlsVerify: true, tlsServerName: 'y', proxyUrl: 'http://p' },
    '/p',
  );
  assert.deepEqual((parse(text) as { clusters: unknown }).clusters, [
    {
      name: 'default-cluster',
      cluster: {
        'certificate-authority': '/etc/ca: 1.crt',
        'insecure-skip-tls-verify': true,
        'proxy-url': 'http://p',
        server: 'https://x',
        'tls-server-name': 'y',
      },
    },
  ]);
});
