import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { firstValueFrom } from 'rxjs';
import type { PodUid } from '../../../src/model/pod.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';
import { aCa } from '../../builders/a-pki.ts';
import { aPod } from '../../builders/a-pod.ts';
import { nothingGiven } from '../../builders/node-parts.ts';
import { aCluster } from './a-cluster.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordedHappenings } from '../../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const never = new AbortController().signal;
let directory: string;
let clock: FakeClock;
let log: RecordingLogger;
let happenings: RecordedHappenings;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-no-cluster-'));
  clock = new FakeClock();
  clock.frame = Date.now();
  log = new RecordingLogger();
  happenings = new RecordedHappenings();
});
afterEach(async () => {
  assert.deepEqual([log.lines, happenings.happened, clock.actions], [[], [], []]);
  await rm(directory, { recursive: true });
});

const open = (over: Partial<KubeletOptions> = {}): Promise<Cluster> =>
  aCluster({ certDir: directory, ...over }, { clock, log, tell: happenings.tell });

test('without --kubeconfig there is no cluster, and nothing of it runs', async () => {
  const { exists, services, sources, listener } = await open();
  assert.deepEqual({ exists, services, sources, listener }, { exists: false, services: [], sources: [], listener: {} });
});

test('every door rejects requests, and informers say nothing', async () => {
  const { clients } = await open();
  for (const door of [clients.main, clients.events, clients.heartbeat, clients.reviews]) {
    await assert.rejects(door.request({ method: 'GET', path: '/api/v1/nodes' }, never), { message: 'there is no API server' });
    door.closeConnections();
  }
  const said: unknown[] = [];
  clients.informer({ path: '/api/v1/pods' }).subscribe({ next: (event) => said.push(event), complete: () => said.push('end') });
  assert.deepEqual(said, []);
});

test('the node is not known, and never will be', async () => {
  const cluster = await open();
  const said: unknown[] = [];
  cluster.nodeChanges.subscribe({ next: (node) => said.push(node), complete: () => said.push('end') });
  cluster.nodes.subscribe((event) => said.push(event));
  assert.deepEqual([cluster.node(), said], [undefined, [undefined]]);
});

test('there are no API pods; none is learnt, and their complete set is not known', async () => {
  const { apiPods } = await open();
  const said: unknown[] = [];
  apiPods.changes.subscribe((change) => said.push(change));
  const pod = aPod('p');
  apiPods.learn(pod);
  assert.deepEqual(
    [apiPods.synced, apiPods.list(), apiPods.byUid(pod.metadata.uid), apiPods.byUid('u' as PodUid), said],
    [false, [], undefined, undefined, []],
  );
});

test('events are recorded nowhere', async () => {
  const { recorder } = await open();
  recorder.record(aPod('p'), 'Normal', 'Started', 'Started container');
});

test("the server's certificate is that of given files", async () => {
  const pair = aCa().issue({ commonName: 'given', hosts: ['n1'] });
  const [tlsCertFile, tlsPrivateKeyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  await writeFile(tlsCertFile, pair.certificatePem);
  await writeFile(tlsPrivateKeyFile, pair.keyPem);
  const certificate = (await open({ tlsCertFile, tlsPrivateKeyFile })).servingCertificate(() => []);
  const stop = new AbortController();
  const running = certificate.run(stop.signal, nothingGiven);
  assert.deepEqual(await firstValueFrom(certificate.pairs), pair);
  stop.abort();
  await running;
});

test("the server's certificate is made here where none is given, and names the node's addresses", async () => {
  const cluster = await open();
  const certificate = cluster.servingCertificate(() => [{ type: 'InternalIP', address: '10.0.0.7' }]);
  const stop = new AbortController();
  const running = certificate.run(stop.signal, nothingGiven);
  const leaf = new X509Certificate((await firstValueFrom(certificate.pairs)).certificatePem);
  assert.match(leaf.subject, /^CN=n1@/);
  assert.match(String(leaf.subjectAltName), /IP Address:10\.0\.0\.7/);
  stop.abort();
  await running;
  assert.equal(log.lines.splice(0).length, 1);
});
