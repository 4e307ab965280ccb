import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { firstValueFrom, skip } from 'rxjs';
import { certificateRequestName, nodeSubject } from '../../../../src/cluster/certificates/certificate-request.ts';
import { servingPurpose } from '../../../../src/cluster/certificates/certificate-purpose.ts';
import { CertificateStore } from '../../../../src/cluster/certificates/certificate-store.ts';
import { parseClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import { decideRotation } from '../../../../src/cluster/certificates/rotation-decision.ts';
import { servingCertificate, type ServingCertificateOptions } from '../../../../src/cluster/certificates/serving-certificate.ts';
import { servingSubject } from '../../../../src/cluster/certificates/serving-subject.ts';
import type { NodeAddress } from '../../../../src/model/node.ts';
import type { ServingPair } from '../../../../src/ports/serving-certificate.ts';
import { aKey, HOUR_MS, signRequest } from '../../../builders/a-client-certificate.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { FakeCsrApi } from '../../../fakes/fake-csr-api.ts';
import { RecordedHappenings } from '../../../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

let directory: string;
let clock: FakeClock;
let log: RecordingLogger;
let stop: AbortController;
let running: Promise<void> | undefined;
let addresses: readonly NodeAddress[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rxlet-serving-'));
  clock = new FakeClock();
  clock.frame = Date.parse('2026-01-01T00:00:00Z');
  log = new RecordingLogger();
  stop = new AbortController();
  running = undefined;
  addresses = [
    { type: 'InternalIP', address: '10.0.0.7' },
    { type: 'InternalIP', address: 'fd00::7' },
    { type: 'Hostname', address: 'a' },
  ];
});
afterEach(async () => {
  stop.abort();
  await running;
  assert.deepEqual(clock.actions, [], 'no timer is left');
  await rm(directory, { recursive: true });
});

const aCertificate = (options: Partial<ServingCertificateOptions> = {}, clients?: FakeCsrApi) => {
  const all = { certDir: directory, tlsCertFile: '', tlsPrivateKeyFile: '', rotateServerCertificates: false, ...options };
  return servingCertificate({
    options: all,
    nodeName: 'a',
    addresses: () => addresses,
    clients: clients && (() => clients),
    clock,
    log,
    tell: new RecordedHappenings().tell,
    random: () => 0.5,
  });
};
const leafOf = ({ certificatePem }: ServingPair): X509Certificate => new X509Certificate(certificatePem);

describe('a self-signed certificate', () => {
  test('names the node, its addresses and the machine, signs itself and is good for a year', async () => {
    const certificate = aCertificate();
    running = certificate.run(stop.signal);
    const pair = await firstValueFrom(certificate.pairs);
    const leaf = leafOf(pair);
    assert.equal(leaf.subject, 'CN=a@1767225600');
    assert.deepEqual(leaf.subjectAltName?.split(', ').toSorted(), [
      'DNS:a',
      'DNS:localhost',
      'IP Address:0:0:0:0:0:0:0:1',
      'IP Address:10.0.0.7',
      'IP Address:127.0.0.1',
      'IP Address:FD00:0:0:0:0:0:0:7',
    ]);
    assert.deepEqual(
      [leaf.validFromDate.toISOString(), leaf.validToDate.toISOString()],
      ['2025-12-31T23:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    );
    assert(leaf.checkIssued(leaf) && leaf.verify(leaf.publicKey) && leaf.checkPrivateKey(createPrivateKey(pair.keyPem)));
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  });

  test('is kept in --cert-dir under the kubelet’s names, its key for the owner alone, and used again', async () => {
    const first = aCertificate();
    running = first.run(stop.signal);
    const pair = await firstValueFrom(first.pairs);
    assert.equal(await readFile(join(directory, 'kubelet.crt'), 'utf8'), pair.certificatePem);
    assert.equal((await stat(join(directory, 'kubelet.key'))).mode & 0o777, 0o600);
    const second = aCertificate();
    const again = second.run(stop.signal);
    assert.deepEqual(await firstValueFrom(second.pairs), pair);
    stop.abort();
    await again;
  });

  test('is ready when it can be shown, not before', async () => {
    const certificate = aCertificate();
    assert(certificate.ready);
    let shown = false;
    const showing = certificate.pairs.subscribe(() => (shown = true));
    const ready = certificate.ready(stop.signal).then(() => shown);
    running = certificate.run(stop.signal);
    assert.equal(await ready, true);
    showing.unsubscribe();
  });

  test('that cannot be kept is an error that says where, and what to set', async () => {
    await writeFile(join(directory, 'file'), '');
    const certDir = join(directory, 'file/pki');
    await assert.rejects(aCertificate({ certDir }).run(stop.signal), {
      message: `a self-signed serving certificate cannot be kept in ${certDir} (--cert-dir names another place)`,
    });
  });

  test('gives way to a new one in time', async () => {
    const certificate = aCertificate();
    running = certificate.run(stop.signal);
    const first = await firstValueFrom(certificate.pairs);
    const next = firstValueFrom(certificate.pairs.pipe(skip(1)));
    clock.frame += 340 * 24 * HOUR_MS;
    await clock.advance(10_000);
    assert.notEqual((await next).certificatePem, first.certificatePem);
  });
});

describe('given files', () => {
  const give = async (commonName: string): Promise<ServingPair> => {
    const pair = aCa().issue({ commonName, hosts: [commonName], notAfterMs: clock.now() + HOUR_MS });
    await writeFile(join(directory, 'tls.crt'), pair.certificatePem);
    await writeFile(join(directory, 'tls.key'), pair.keyPem);
    return pair;
  };
  const given = () => aCertificate({ tlsCertFile: join(directory, 'tls.crt'), tlsPrivateKeyFile: join(directory, 'tls.key') });

  test('are used, and used anew when they change', async () => {
    const pair = await give('a');
    const certificate = given();
    running = certificate.run(stop.signal);
    assert.deepEqual(await firstValueFrom(certificate.pairs), pair);
    const next = firstValueFrom(certificate.pairs.pipe(skip(1)));
    const other = await give('b');
    await clock.advance(10_000);
    assert.deepEqual(await next, other);
  });

  test('that are broken later leave the last pair in use, and say so once', async () => {
    const pair = await give('a');
    const certificate = given();
    running = certificate.run(stop.signal);
    await firstValueFrom(certificate.pairs);
    await writeFile(join(directory, 'tls.key'), 'nothing');
    await clock.advance(10_000);
    await log.next('the serving certificate stays as it was');
    await clock.advance(30_000);
    assert.deepEqual(await firstValueFrom(certificate.pairs), pair);
    assert.equal(log.count('the serving certificate stays as it was'), 1);
  });

  test('that are missing at the start are an error that names them', async () => {
    await assert.rejects(given().run(stop.signal), { message: `cannot read ${join(directory, 'tls.crt')}` });
  });
});

describe('a certificate from the cluster', () => {
  test('is asked for with the kubelet’s signer, usages, subject and addresses, and kept', async () => {
    const api = new FakeCsrApi();
    api.approver = (pem) => signRequest(pem, { notBeforeMs: clock.now(), notAfterMs: clock.now() + HOUR_MS });
    const certificate = aCertificate({ rotateServerCertificates: true }, api);
    running = certificate.run(stop.signal);
    const pair = await firstValueFrom(certificate.pairs);
    const { spec } = api.get(api.names[0] ?? '') ?? {};
    assert.deepEqual(
      [spec?.signerName, spec?.usages],
      ['kubernetes.io/kubelet-serving', ['digital signature', 'key encipherment', 'server auth']],
    );
    const request = Buffer.from(
      Buffer.from(spec?.request ?? '', 'base64')
        .toString()
        .replace(/-----[^-]+-----/g, ''),
      'base64',
    );
    for (const part of [
      Buffer.from('system:node:a'),
      Buffer.from('system:nodes'),
      Buffer.of(0x87, 4, 10, 0, 0, 7),
      Buffer.of(0x82, 1, 0x61),
    ]) {
      assert(request.includes(part));
    }
    const kept = await new CertificateStore(directory, clock, servingPurpose).current();
    assert.equal(kept?.certificatePem, pair.certificatePem);
    assert.match(await readFile(join(directory, 'kubelet-server-current.pem'), 'utf8'), /BEGIN CERTIFICATE/);
  });

  test('waits for the node’s addresses', async () => {
    addresses = [];
    const api = new FakeCsrApi();
    running = aCertificate({ rotateServerCertificates: true }, api).run(stop.signal);
    await clock.advance(60_000);
    assert.deepEqual(api.sent, []);
  });

  test('is due at once when the node has an address that it does not name', () => {
    const { certificatePem, keyPem } = aCa().issue({
      commonName: 'system:node:a',
      organizations: ['system:nodes'],
      hosts: ['a', '10.0.0.7'],
    });
    const identity = parseClientIdentity({ text: certificatePem, where: '' }, { text: keyPem, where: '' });
    const wanted = servingSubject('a', addresses);
    assert(wanted);
    assert.deepEqual(decideRotation(identity, wanted, 0.5), { dueMs: Number.NEGATIVE_INFINITY, because: 'it is not for fd00::7' });
    assert.equal(decideRotation(identity, { ...wanted, ipAddresses: ['10.0.0.7'] }, 0.5).because.startsWith('it expires at'), true);
  });

  test('has nobody to ask without a cluster, and a self-signed one serves', async () => {
    const certificate = aCertificate({ rotateServerCertificates: true });
    running = certificate.run(stop.signal);
    assert.match(leafOf(await firstValueFrom(certificate.pairs)).subject, /^CN=a@/);
    assert.equal(log.count('there is no cluster to ask for a serving certificate: --rotate-server-certificates has no effect'), 1);
  });
});

test('a request without names keeps its name, so that a restarted node finds it again', () => {
  const key = aKey();
  const subject = nodeSubject('a');
  const name = certificateRequestName(subject, key, servingPurpose.usages);
  assert.equal(certificateRequestName({ ...subject }, key, servingPurpose.usages), name);
  assert.notEqual(certificateRequestName({ ...subject, dnsNames: ['a'] }, key, servingPurpose.usages), name);
});
