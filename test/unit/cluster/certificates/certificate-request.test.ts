import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { certificateRequest, certificateRequestName, nodeSubject } from '../../../../src/cluster/certificates/certificate-request.ts';
import { clientPurpose } from '../../../../src/cluster/certificates/certificate-purpose.ts';
import { aKey } from '../../../builders/a-client-certificate.ts';

const openssl = (input: string, ...args: readonly string[]): string =>
  execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] });

for (const [what, nodeName, printed] of [
  ['a plain name', 'worker-1.example.org', 'O = system:nodes, CN = system:node:worker-1.example.org'],
  ['a name that fills more than a length octet', 'n'.repeat(150), `O = system:nodes, CN = system:node:${'n'.repeat(150)}`],
  ['a name outside of PrintableString', 'knoten_ü', 'O = system:nodes, CN = system:node:knoten_\\C3\\BC'],
] as const) {
  test(`openssl verifies a request of ${what}, and reads its subject`, () => {
    const request = certificateRequest(nodeSubject(nodeName), aKey());
    assert.match(openssl(request, 'req', '-noout', '-subject', '-verify'), new RegExp(`subject=${printed.replaceAll('\\', '\\\\')}\n`));
  });
}

test('a request carries the key and is signed with ECDSA and SHA-256', () => {
  const key = aKey();
  const request = certificateRequest(nodeSubject('a'), key);
  assert.equal(openssl(request, 'req', '-noout', '-pubkey'), createPublicKey(key).export({ type: 'spki', format: 'pem' }));
  assert.match(openssl(request, 'req', '-noout', '-text'), /Signature Algorithm: ecdsa-with-SHA256/);
});

test('several organizations stand in one set, sorted as DER asks', () => {
  const request = certificateRequest({ ...nodeSubject('c'), commonName: 'c', organizations: ['zz', 'a', 'b'] }, aKey());
  assert.equal(openssl(request, 'req', '-noout', '-subject', '-verify'), 'subject=O = a + O = b + O = zz, CN = c\n');
});

test('a request without organizations is valid', () => {
  const request = certificateRequest({ ...nodeSubject('c'), commonName: 'c', organizations: [] }, aKey());
  assert.equal(openssl(request, 'req', '-noout', '-subject', '-verify'), 'subject=CN = c\n');
});

test('a changed request does not verify', () => {
  const request = certificateRequest(nodeSubject('abcdefgh'), aKey());
  const other = certificateRequest(nodeSubject('abcdefgh'), aKey());
  const signed = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  const forged = Buffer.concat([signed(request).subarray(0, 150), signed(other).subarray(150)]).toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${forged.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`;
  assert.throws(() => openssl(pem, 'req', '-noout', '-verify'));
});

test('other keys than elliptic ones are refused', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  assert.throws(() => certificateRequest(nodeSubject('a'), privateKey), /key of type rsa/);
});

test('the name depends on key, subject and usages, and on nothing else', () => {
  const [key, other] = [aKey(), aKey()];
  const name = certificateRequestName(nodeSubject('a'), key, clientPurpose.usages);
  assert.match(name, /^node-csr-[\w-]{43}$/);
  assert.equal(certificateRequestName(nodeSubject('a'), key, clientPurpose.usages), name);
  for (const different of [
    certificateRequestName(nodeSubject('b'), key, clientPurpose.usages),
    certificateRequestName(nodeSubject('a'), other, clientPurpose.usages),
    certificateRequestName(nodeSubject('a'), key, ['client auth']),
  ])
    assert.notEqual(different, name);
});
