import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientIdentity, parseClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import type { PemPair } from '../../../../src/base/pem-pair.ts';
import { findIdentity } from '../../../../src/cluster/certificates/find-identity.ts';
import { aClientCertificate, HOUR_MS } from '../../../builders/a-client-certificate.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const good = aClientCertificate({ notBeforeMs: nowMs, notAfterMs: nowMs + HOUR_MS });
const other = aClientCertificate({ notBeforeMs: nowMs, notAfterMs: nowMs + HOUR_MS });
const expired = aClientCertificate({ notBeforeMs: nowMs - HOUR_MS, notAfterMs: nowMs });
const broken = new Error('broken');
type Place = PemPair | Error | undefined;

const identityOf = ({ certificatePem, keyPem }: PemPair): ClientIdentity =>
  parseClientIdentity({ text: certificatePem, where: '' }, { text: keyPem, where: '' });
const read = async <T>(place: Place, convert: (pair: PemPair) => T): Promise<T | undefined> => {
  if (place instanceof Error) throw place;
  return place && convert(place);
};

for (const [what, inStore, inKubeconfig, found] of [
  ['that of the directory before that of the kubeconfig', good, other, good],
  ["the kubeconfig's for want of one in the directory", undefined, other, other],
  ["the kubeconfig's where the directory's has expired", expired, good, good],
  ["the kubeconfig's where the directory's is broken", broken, good, good],
  ['an expired one for want of another', expired, undefined, expired],
  ['an expired one where the other is broken', expired, broken, expired],
  ['none where there is none', undefined, undefined, undefined],
] as const) {
  test(`the pair in use is ${what}`, async () => {
    const log = new RecordingLogger();
    const store = { current: () => read(inStore, identityOf) };
    const kubeconfigPair = (): Promise<PemPair | undefined> => read(inKubeconfig, (pair) => pair);
    const identity = await findIdentity({ store, kubeconfigPair, kubeconfigPath: '/k', clock: { now: () => nowMs }, log });
    assert.equal(identity?.certificatePem, found?.certificatePem);
    assert.equal(log.count('a client certificate cannot be read; another one is used'), inStore === broken ? 1 : 0);
  });
}

test('where all that there is is broken, the directory is named first', async () => {
  const deps = { kubeconfigPath: '/k', clock: { now: () => nowMs }, log: new RecordingLogger() };
  const store = { current: () => Promise.reject(broken) };
  const kubeconfigPair = (): Promise<never> => Promise.reject(new Error('also broken'));
  await assert.rejects(findIdentity({ ...deps, store, kubeconfigPair }), broken);
  await assert.rejects(findIdentity({ ...deps, store: undefined, kubeconfigPair }), { message: 'also broken' });
});
