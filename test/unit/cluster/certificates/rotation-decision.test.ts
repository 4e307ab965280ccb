import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeSubject } from '../../../../src/cluster/certificates/certificate-request.ts';
import type { ClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import { CertificateRefusedError } from '../../../../src/cluster/certificates/csr-client.ts';
import { decideRotation, expiryOf, renewalDelayMs } from '../../../../src/cluster/certificates/rotation-decision.ts';

const identity: ClientIdentity = {
  ...nodeSubject('a'),
  certificatePem: '',
  keyPem: '',
  notBeforeMs: 1_000_000,
  notAfterMs: 2_000_000,
};
const wanted = nodeSubject('a');

for (const [chance, dueMs] of [
  [0, 1_700_000],
  [0.5, 1_800_000],
  [1, 1_900_000],
] as const) {
  test(`chance ${chance} rotates at ${(dueMs - 1_000_000) / 10_000} % of the certificate's life`, () => {
    assert.equal(decideRotation(identity, wanted, chance).dueMs, dueMs);
  });
}

for (const [what, found, because] of [
  ['no certificate', undefined, 'there is none yet'],
  ['one of another node', { ...identity, commonName: 'system:node:b' }, 'it is for "system:node:b", and this node is "system:node:a"'],
  ['one outside of the group of nodes', { ...identity, organizations: ['x'] }, 'it lacks the organization system:nodes'],
] as const) {
  test(`${what} is replaced at once`, () => {
    assert.deepEqual(decideRotation(found, wanted, 0.5), { dueMs: Number.NEGATIVE_INFINITY, because });
  });
}

test('further organizations do no harm', () => {
  assert.equal(decideRotation({ ...identity, organizations: ['x', 'system:nodes'] }, wanted, 0).dueMs, 1_700_000);
});

test('the last tenth of a life is soon, its end is expired', () => {
  const at = [1_000_000, 1_900_000, 1_900_001, 1_999_999, 2_000_000].map((nowMs) => expiryOf(identity, nowMs));
  assert.deepEqual(at, ['far', 'far', 'soon', 'soon', 'expired']);
});

test('attempts back off to 32 s, after a refusal to 15 minutes, spread by a tenth', () => {
  const delays = (error: Error, random: number): readonly number[] =>
    [1, 2, 3, 4, 5, 6, 20, 2000].map((failures) => renewalDelayMs(error, failures, () => random));
  const outage = [2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000, 32_000];
  assert.deepEqual(delays(new Error('no route'), 0), outage);
  assert.deepEqual(
    delays(new Error('no route'), 1),
    outage.map((ms) => ms * 1.1),
  );
  const refusal = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 900_000, 900_000];
  assert.deepEqual(delays(new CertificateRefusedError('request', 'denied'), 0), refusal);
});
