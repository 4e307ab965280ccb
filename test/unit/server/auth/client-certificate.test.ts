import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ClientCaFile, parseClientCa } from '../../../../src/server/auth/client-ca.ts';
import { type CertifiedConnection, clientCertificateUser } from '../../../../src/server/auth/client-certificate.ts';
import { aCa } from '../../../builders/a-pki.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const ca = aCa('ca');
const other = aCa('ca');
const bundle = parseClientCa(`words\n${other.pem}more words\n${ca.pem}`, 'ca.pem');
const connection = (pem: string | undefined, authorizationError: string | null = null): CertifiedConnection => ({
  authorized: authorizationError === null,
  authorizationError,
  getPeerX509Certificate: () => (pem === undefined ? undefined : new X509Certificate(pem)),
});
const issued = (commonName: string, organizations: readonly string[] = []): string =>
  ca.issue({ commonName, organizations }).certificatePem;
const check = (trusted = bundle, isCurrent = true, nowMs = Date.now()) => ({ bundle: trusted, isCurrent, nowMs });
const DAY_MS = 86_400_000;

describe('a client certificate', () => {
  test('names its user and groups', () => {
    const user = clientCertificateUser(connection(issued('jo', ['a', 'b'])), check());
    assert.deepEqual(user, { name: 'jo', groups: ['a', 'b'] });
    assert.deepEqual(clientCertificateUser(connection(issued('jo', ['a'])), check())?.groups, ['a']);
  });
  test('that is missing, or names nobody, is no credential', () => {
    assert.equal(clientCertificateUser(connection(undefined), check()), undefined);
    assert.equal(clientCertificateUser(connection(issued('')), check()), undefined);
  });
  for (const [why, pem, error, offsetMs, trusted, isCurrent, message] of [
    ['the handshake did not verify', issued('jo'), 'CERT_HAS_EXPIRED', 0, bundle, true, /CERT_HAS_EXPIRED/],
    ['has expired since the handshake', issued('jo'), null, 2 * DAY_MS, bundle, true, /has expired/],
    ['is not valid yet', issued('jo'), null, -3 * DAY_MS, bundle, true, /is not yet valid/],
    ['comes from a CA that is trusted no more', issued('jo'), null, 0, parseClientCa(other.pem, ''), false, /authorities have changed/],
  ] as const) {
    test(`that ${why} is not believed`, () => {
      assert.throws(() => clientCertificateUser(connection(pem, error), check(trusted, isCurrent, Date.now() + offsetMs)), message);
    });
  }
  test('outlives a change of the authorities that keeps its own', () => {
    assert.equal(clientCertificateUser(connection(issued('jo')), check(bundle, false))?.name, 'jo');
  });
});

test('a CA file is read again when it changes; what is broken leaves the last one in use', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-ca-'));
  const path = join(directory, 'ca.pem');
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const stop = new AbortController();
  try {
    await writeFile(path, ca.pem);
    const file = await ClientCaFile.open(path, clock, log);
    const following = file.follow(stop.signal);
    const sizes: number[] = [];
    const subscription = file.bundles.subscribe(({ certificates }) => sizes.push(certificates.length));
    await writeFile(path, ca.pem + other.pem);
    const changed = log.next('client certificate authorities loaded');
    await clock.advance(60_000);
    await changed;
    await writeFile(path, 'nothing');
    const kept = log.next('client certificate authorities not loaded, keeping the previous ones');
    await clock.advance(60_000);
    assert.match(String((await kept).fields['error']), /there is no certificate in/);
    assert.deepEqual(sizes, [1, 2]);
    subscription.unsubscribe();
    stop.abort();
    await following;
    assert.deepEqual(clock.actions, []);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a CA file without certificates is refused by name', () => {
  assert.throws(() => parseClientCa('', '/etc/ca.pem'), { message: 'there is no certificate in /etc/ca.pem' });
  const garbled = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
  assert.throws(() => parseClientCa(garbled, '/etc/ca.pem'), { message: '/etc/ca.pem cannot be read as certificates' });
});
