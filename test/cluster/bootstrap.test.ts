import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { filter, firstValueFrom, ReplaySubject, skip, take } from 'rxjs';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { bootstrap, type BootstrapDeps } from '../../src/cluster/certificates/bootstrap.ts';
import { clientPurpose } from '../../src/cluster/certificates/certificate-purpose.ts';
import { nodeSubject } from '../../src/cluster/certificates/certificate-request.ts';
import { CertificateRotation } from '../../src/cluster/certificates/certificate-rotation.ts';
import { CertificateStore } from '../../src/cluster/certificates/certificate-store.ts';
import type { PemPair } from '../../src/base/pem-pair.ts';
import { findIdentity } from '../../src/cluster/certificates/find-identity.ts';
import { clientCertificateOf, obtainCertificate } from '../../src/cluster/certificates/obtain-certificate.ts';
import { rotatingCredentials } from '../../src/cluster/certificates/rotating-credentials.ts';
import { checkAccess } from '../../src/cluster/kube/check-access.ts';
import type { ClusterAccess } from '../../src/cluster/kube/cluster-access.ts';
import type { OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import type { ResourceEvent, WatchedObject } from '../../src/ports/kube-api.ts';
import { accessOf, clientsFor } from '../builders/clients-under-test.ts';
import { kubeconfigOf, kubectl } from '../builders/cluster-under-test.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

let nodeName: string;
let directory: string;
let kubeconfigPath: string;
let store: CertificateStore;
let log: RecordingLogger;
let stop: AbortController;
let requests: Set<string>;
let opened: OwnedKubeClients[];

beforeEach(async () => {
  nodeName = `bootstrap-${randomUUID().slice(0, 8)}`;
  directory = await mkdtemp(join(tmpdir(), 'rxlet-bootstrap-'));
  kubeconfigPath = join(directory, 'kubelet.conf');
  store = new CertificateStore(join(directory, 'pki'), systemClock);
  log = new RecordingLogger();
  stop = new AbortController();
  requests = new Set();
  opened = [];
});
afterEach(async () => {
  stop.abort();
  for (const { fields } of log.lines) if (typeof fields['csr'] === 'string') requests.add(fields['csr']);
  if (requests.size > 0) await kubectl('delete', 'csr', '--ignore-not-found', ...requests);
  await Promise.all(opened.map((clients) => clients.close()));
  await rm(directory, { recursive: true });
});

function open(access: ClusterAccess): OwnedKubeClients {
  const clients = clientsFor(access);
  opened.push(clients);
  return clients;
}
const kubeconfigPair = async (): Promise<PemPair | undefined> =>
  (await (await accessOf(kubeconfigPath)).credentials.current(stop.signal)).identity;

function deps(bootstrapKubeconfigPath = kubeconfigOf('bootstrap')): BootstrapDeps {
  return {
    store,
    nodeName,
    clock: systemClock,
    log,
    kubeconfigPath,
    kubeconfigPair,
    bootstrapKubeconfigPath,
    bootstrapClients: async () => {
      const cluster = await accessOf(bootstrapKubeconfigPath);
      const clients = open(cluster);
      return { api: clients.main, informer: clients.informer, cluster };
    },
    random: Math.random,
  };
}

test('with a bootstrap token a node gets a certificate and a kubeconfig that the API server accepts', async () => {
  await bootstrap(deps(), stop.signal);
  const access = await accessOf(kubeconfigPath);
  await checkAccess({ api: open(access).main, access, nodeName, clock: systemClock }, stop.signal);
  assert.equal((await store.current())?.commonName, `system:node:${nodeName}`);
  // The second start has nothing to do.
  await bootstrap(deps(), stop.signal);
  assert.equal(log.count('kubeconfig written'), 1);
});

test('a token that the API server does not know is refused at once, with its answer', async () => {
  const path = join(directory, 'bootstrap.conf');
  await writeFile(path, (await readFile(kubeconfigOf('bootstrap'), 'utf8')).replace(/token: [\w.]+/, 'token: abcdef.0123456789abcdef'));
  await assert.rejects(bootstrap(deps(path), stop.signal), (error) => {
    assert.ok(error instanceof Error && error.cause instanceof Error);
    assert.equal(error.message, `bootstrap kubeconfig ${path}`);
    return error.cause.message.includes('does not accept the credentials');
  });
});

test('a request that waits for approval is found again after a restart, and its denial is explained', async () => {
  // A node may not vouch for another one: nobody approves this by itself.
  const clients = open(await accessOf(kubeconfigOf('node')));
  const obtain = (signal: AbortSignal): Promise<unknown> =>
    obtainCertificate(
      { store, wanted: clientCertificateOf(nodeName), clock: systemClock, log },
      { api: clients.main, informer: clients.informer },
      signal,
    );
  const requested = 'client certificate requested, waiting until it is approved and signed';
  const first = new AbortController();
  const interrupted = obtain(first.signal);
  const { fields } = await log.next(requested);
  first.abort(new Error('restarted'));
  await assert.rejects(interrupted, { message: 'restarted' });
  const again = obtain(stop.signal).catch((error: unknown) => error);
  assert.equal((await log.next(requested)).fields['csr'], fields['csr']);
  await kubectl('certificate', 'deny', String(fields['csr']));
  assert.match(String(await again), /is denied, reason: KubectlDeny, message: This CSR was denied by kubectl/);
});

test('a certificate is renewed with itself, and a watch moves over without a new list', async () => {
  await bootstrap(deps(), stop.signal);
  const given = await accessOf(kubeconfigPath);
  // Late in the certificate's life, wherever the cluster lets it end.
  const { notBeforeMs = 0, notAfterMs = 0 } = (await store.current()) ?? {};
  const offsetMs = notBeforeMs + (notAfterMs - notBeforeMs) * 0.95 - Date.now();
  const clock: Clock = { ...systemClock, now: () => Date.now() + offsetMs };
  const rotation = new CertificateRotation({
    find: () => findIdentity({ store, kubeconfigPair, kubeconfigPath, clock, log }),
    renewal: {
      store,
      nodeName,
      subject: () => nodeSubject(nodeName),
      own: () => ({ api: clients.main, informer: clients.informer }),
      bootstrap: undefined,
    },
    purpose: clientPurpose,
    clock,
    log,
    tell: new RecordedHappenings().tell,
    random: Math.random,
  });
  await rotation.load();
  const clients = open({ ...given, credentials: rotatingCredentials(rotation, given.credentials) });

  const events = new ReplaySubject<ResourceEvent<WatchedObject>>();
  const watching = clients.informer({ path: '/api/v1/services' }).subscribe(events);
  const service = `${nodeName}-service`;
  try {
    await firstValueFrom(events);
    const renewed = firstValueFrom(rotation.identities.pipe(skip(1), take(1)));
    const running = rotation.run(stop.signal);
    const identity = await renewed;
    await clients.refreshCredentials(stop.signal);
    assert.equal(identity.certificatePem, (await store.current())?.certificatePem);
    await kubectl('create', 'service', 'clusterip', service, '--tcp=80');
    await firstValueFrom(events.pipe(filter((event) => event.kind === 'put' && event.item.metadata.name === service)));
    stop.abort();
    await running;
    const seen: string[] = [];
    events.subscribe(({ kind }) => seen.push(kind)).unsubscribe();
    assert.equal(seen.filter((kind) => kind === 'reset').length, 1);
  } finally {
    watching.unsubscribe();
    await kubectl('delete', 'service', service, '--ignore-not-found');
  }
});
