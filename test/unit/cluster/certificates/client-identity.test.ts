import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { ClientCertificateError, parseClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import { aClientCertificate, HOUR_MS } from '../../../builders/a-client-certificate.ts';

const life = { notBeforeMs: Date.parse('2026-01-01T00:00:00Z'), notAfterMs: Date.parse('2026-01-01T00:00:00Z') + HOUR_MS };
const { certificatePem, keyPem } = aClientCertificate(life);
const at = (text: string, where = '/pki/current.pem'): { text: string; where: string } => ({ text, where });

test('a certificate says for whom and how long it is', () => {
  const both = at(keyPem + certificatePem);
  assert.deepEqual(parseClientIdentity(both, both), {
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    dnsNames: [],
    ipAddresses: [],
    ...life,
    certificatePem,
    keyPem,
  });
});

test('the chain is kept in order', () => {
  const next = aClientCertificate(life).certificatePem;
  assert.equal(parseClientIdentity(at(certificatePem + next), at(keyPem)).certificatePem, certificatePem + next);
});

test('every organization is read', () => {
  const pair = aClientCertificate({ ...life, organizations: ['system:nodes', 'system:masters'] });
  assert.deepEqual(parseClientIdentity(at(pair.certificatePem), at(pair.keyPem)).organizations, ['system:nodes', 'system:masters']);
});

const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
}).privateKey;

for (const [what, certificate, key, message] of [
  ['an empty file', '', '', 'there is no certificate in /pki/current.pem'],
  ['no key', certificatePem, certificatePem, 'there is no private key in /pki/key.pem'],
  ['a certificate that is none', certificatePem.replace(/MII.{20}/, 'MII'), keyPem, 'the certificate in /pki/current.pem cannot be read'],
  ['a key that is none', certificatePem, keyPem.replace(/MHc.{20}/, 'MHc'), 'the private key in /pki/key.pem cannot be read'],
  ['an encrypted key', certificatePem, encrypted, 'the private key in /pki/key.pem is encrypted; give one without a passphrase'],
  [
    'a key of another certificate',
    certificatePem,
    aClientCertificate(life).keyPem,
    'the private key in /pki/key.pem is not that of the certificate of "system:node:a" in /pki/current.pem',
  ],
] as const) {
  test(`${what} is explained`, () => {
    assert.throws(
      () => parseClientIdentity(at(certificate), at(key, '/pki/key.pem')),
      (error) => error instanceof ClientCertificateError && error.message === message,
    );
  });
}
