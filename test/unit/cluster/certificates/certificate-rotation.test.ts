import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { clientPurpose } from '../../../../src/cluster/certificates/certificate-purpose.ts';
import { nodeSubject } from '../../../../src/cluster/certificates/certificate-request.ts';
import { type CertificateRenewal, CertificateRotation } from '../../../../src/cluster/certificates/certificate-rotation.ts';
import { ClientCertificateError, type ClientIdentity, parseClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import { rotatingCredentials } from '../../../../src/cluster/certificates/rotating-credentials.ts';
import { ApiUnreachableError } from '../../../../src/model/api-error.ts';
import { aClientCertificate, type CertificateFacts, HOUR_MS, signRequest } from '../../../builders/a-client-certificate.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { FakeCsrApi } from '../../../fakes/fake-csr-api.ts';
import { MemoryCertificateStore } from '../../../fakes/memory-certificate-store.ts';
import { RecordedHappenings } from '../../../fakes/recorded-happenings.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const MINUTE_MS = 60_000;
let clock: FakeClock;
let own: FakeCsrApi;
let bootstrap: FakeCsrApi;
let store: MemoryCertificateStore;
let log: RecordingLogger;
let happenings: RecordedHappenings;
let stop: AbortController;
let running: Promise<void>;
let used: ClientIdentity[];

beforeEach(() => {
  clock = new FakeClock();
  clock.frame = Date.parse('2026-01-01T00:00:00Z');
  [own, bootstrap] = [new FakeCsrApi(), new FakeCsrApi()];
  for (const api of [own, bootstrap]) api.approver = (pem) => signRequest(pem, hour());
  store = new MemoryCertificateStore();
  log = new RecordingLogger();
  happenings = new RecordedHappenings();
  stop = new AbortController();
  used = [];
});
afterEach(async () => {
  stop.abort();
  await running;
  assert.equal(own.watchers + bootstrap.watchers, 0);
  assert.deepEqual(clock.actions, [], 'no timer is left');
});

const hour = (): CertificateFacts => ({ notBeforeMs: clock.now(), notAfterMs: clock.now() + HOUR_MS });
function place(facts: CertificateFacts): ClientIdentity {
  const { certificatePem, keyPem } = aClientCertificate(facts);
  return (store.identity = parseClientIdentity({ text: certificatePem, where: '' }, { text: keyPem, where: '' }));
}
function start(renewal: Partial<CertificateRenewal> | 'off' = {}): CertificateRotation {
  const rotation = new CertificateRotation({
    find: () => store.current(),
    renewal:
      renewal === 'off'
        ? undefined
        : { store, nodeName: 'a', subject: () => nodeSubject('a'), own: () => own, bootstrap: undefined, ...renewal },
    purpose: clientPurpose,
    clock,
    log,
    tell: happenings.tell,
    random: () => 0.5,
  });
  const subscription = rotation.identities.subscribe((identity) => used.push(identity));
  running = rotation.run(stop.signal).finally(() => subscription.unsubscribe());
  return rotation;
}
const said = (message: string): number => log.count(message);

test('a certificate is renewed at 80 % of its life, again and again', async () => {
  const first = place(hour());
  start();
  await clock.advance(48 * MINUTE_MS - 1);
  assert.deepEqual(used, [first]);
  await clock.advance(1);
  assert.equal(used.length, 2);
  assert.equal(used[1], store.identity);
  await clock.advance(47 * MINUTE_MS);
  assert.equal(used.length, 2);
  await clock.advance(MINUTE_MS);
  assert.equal(used.length, 3);
  assert.equal(said('client certificate replaced'), 2);
});

test('what is in use, and how old it was when another took its place, is told of a certificate that is renewed here', async () => {
  const first = place(hour());
  start();
  await clock.advance(48 * MINUTE_MS);
  assert.deepEqual(happenings.happened, [
    { name: 'certificateInUse', what: { use: 'client', expiresAtMs: first.notAfterMs } },
    { name: 'certificateInUse', what: { use: 'client', expiresAtMs: store.identity?.notAfterMs } },
    { name: 'certificateRenewed', what: { use: 'client', ageMs: 48 * MINUTE_MS } },
  ]);
});

test('nothing is told of a certificate that somebody else replaces', async () => {
  const first = place(hour());
  start('off');
  await clock.advance(0);
  assert.deepEqual([used, happenings.happened], [[first], []]);
});

test('without a certificate one is asked for at once, with whatever credentials there are', async () => {
  start();
  await clock.advance(0);
  assert.deepEqual(used, [store.identity]);
  assert.equal(own.sent.length, 1);
});

test("another node's certificate is replaced at once", async () => {
  place({ ...hour(), commonName: 'system:node:b' });
  start();
  await clock.advance(0);
  assert.deepEqual(
    used.map(({ commonName }) => commonName),
    ['system:node:b', 'system:node:a'],
  );
});

test('a signer whose certificates are due at once is asked less and less often', async () => {
  own.approver = (pem) => signRequest(pem, { notBeforeMs: clock.now() - HOUR_MS, notAfterMs: clock.now() + MINUTE_MS });
  start();
  await clock.advance(HOUR_MS);
  assert.equal(own.sent.length, 10);
});

test('failures back off, are counted, and leave the certificate in use', async () => {
  const first = place(hour());
  own.failures.push(...Array.from({ length: 3 }, () => new ApiUnreachableError('no route')));
  const rotation = start();
  await clock.advance(48 * MINUTE_MS);
  const failed = { use: 'client' } as const;
  assert.deepEqual(happenings.of('certificateRenewFailed'), [failed]);
  assert.equal(rotation.current, first);
  // Three delays, each five hundredths longer.
  await clock.advance((2_000 + 4_000 + 8_000) * 1.05 - 1);
  assert.deepEqual(happenings.of('certificateRenewFailed'), [failed, failed, failed]);
  assert.equal(used.length, 1);
  await clock.advance(1);
  assert.equal(used.length, 2);
});

test('a certificate that could not be renewed in time is said to expire soon and to have expired, and is renewed when that works', async () => {
  place(hour());
  own.approver = undefined;
  start();
  await clock.advance(55 * MINUTE_MS);
  assert.equal(said('the client certificate expires soon'), 1);
  await clock.advance(6 * MINUTE_MS);
  const expired = 'the client certificate has expired: the API server does not know this node until it is replaced';
  assert.equal(said(expired), 1);
  await clock.advance(10 * MINUTE_MS);
  assert.equal(said(expired), 3);
  own.approve(own.names.at(-1) ?? '', (pem) => signRequest(pem, hour()));
  await clock.advance(2 * MINUTE_MS);
  assert.equal(used.length, 2);
  assert.equal(said(expired), 3);
});

test('an expired certificate is renewed with the bootstrap credentials', async () => {
  place({ notBeforeMs: clock.now() - HOUR_MS, notAfterMs: clock.now() });
  start({ bootstrap: () => Promise.resolve(bootstrap) });
  await clock.advance(0);
  assert.deepEqual([own.sent.length, bootstrap.sent.length, bootstrap.closed], [0, 1, 1]);
  assert.equal(used.at(-1), store.identity);
  await clock.advance(48 * MINUTE_MS);
  assert.deepEqual([own.sent.length, bootstrap.sent.length], [1, 1], 'the next one is asked for with the certificate itself');
});

test('bootstrap credentials that are gone are no obstacle', async () => {
  start({ bootstrap: () => Promise.reject(new Error('kubeconfig /etc/bootstrap.conf does not exist')) });
  await clock.advance(0);
  assert.equal(own.sent.length, 1);
  assert.equal(said('the bootstrap credentials cannot be used'), 1);
});

test('a pair that was replaced on disk is taken up within a minute', async () => {
  place(hour());
  start();
  await clock.advance(0);
  const second = place(hour());
  await clock.advance(MINUTE_MS);
  assert.equal(used.at(-1), second);
  assert.equal(own.sent.length, 0);
});

test('a pair that became unreadable is said once, and the last good one stays in use', async () => {
  const first = place(hour());
  const rotation = start();
  await clock.advance(0);
  store.broken = new ClientCertificateError('there is no private key in /pki/current.pem');
  await clock.advance(5 * MINUTE_MS);
  assert.equal(said('the client certificate cannot be read'), 1);
  assert.equal(rotation.current, first);
  store.broken = undefined;
  await clock.advance(MINUTE_MS);
  store.broken = new ClientCertificateError('there is no private key in /pki/current.pem');
  await clock.advance(MINUTE_MS);
  assert.equal(said('the client certificate cannot be read'), 2);
});

test('what was read while a new certificate took its place does not bring the old one back', async () => {
  const first = place(hour());
  const rotation = start();
  await clock.advance(0);
  store.current = () => new Promise((resolve) => clock.schedule(() => resolve(first), 500));
  const load = rotation.load();
  const next = place(hour());
  store.current = () => Promise.resolve(next);
  await rotation.load();
  await clock.advance(500);
  assert.equal(await load, next);
  assert.deepEqual(used, [first, next]);
});

test('with rotation off nobody is asked: files are read, and their expiry is said', async () => {
  place(hour());
  start('off');
  await clock.advance(61 * MINUTE_MS);
  assert.equal(own.sent.length, 0);
  const line = log.lines.find(({ level }) => level === 'error');
  assert.deepEqual(line?.fields, {
    as: 'system:node:a',
    expires: '2026-01-01T01:00:00Z',
    advice: 'replace it: --rotate-certificates is off',
  });
  const second = place(hour());
  await clock.advance(MINUTE_MS);
  assert.equal(used.at(-1), second);
});

test("the agent's credentials are the rotation's, and a refusal makes it look at the disk", async () => {
  const first = place(hour());
  const rotation = start('off');
  const given = { current: () => Promise.resolve({ authorization: 'Bearer t' }), refused: () => false };
  const credentials = rotatingCredentials(rotation, given);
  assert.deepEqual(await credentials.current(stop.signal), { authorization: 'Bearer t' }, 'until there is a certificate');
  await clock.advance(0);
  assert.deepEqual(await credentials.current(stop.signal), { identity: first });
  const second = place(hour());
  assert.deepEqual(await credentials.current(stop.signal), { identity: first });
  assert.equal(credentials.refused(), true);
  assert.deepEqual(await credentials.current(stop.signal), { identity: second });
});
