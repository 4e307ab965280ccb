import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PemPair } from '../../../../src/base/pem-pair.ts';
import { keepKubeconfigPair } from '../../../../src/cluster/certificates/keep-kubeconfig-pair.ts';
import { aClientCertificate, HOUR_MS } from '../../../builders/a-client-certificate.ts';
import { MemoryCertificateStore } from '../../../fakes/memory-certificate-store.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const given = aClientCertificate({ notBeforeMs: nowMs, notAfterMs: nowMs + HOUR_MS });
const other = aClientCertificate({ notBeforeMs: nowMs, notAfterMs: nowMs + HOUR_MS });
const warning = "the kubeconfig's client certificate is not kept in --cert-dir";

async function kept(
  store: MemoryCertificateStore,
  pair: PemPair | undefined,
): Promise<readonly [certificatePem: string | undefined, warnings: number]> {
  const log = new RecordingLogger();
  await keepKubeconfigPair({ store, kubeconfigPair: () => Promise.resolve(pair), log }, new AbortController().signal);
  return [store.identity?.certificatePem, log.count(warning)];
}

test("the kubeconfig's pair becomes the first of the directory", async () => {
  assert.deepEqual(await kept(new MemoryCertificateStore(), given), [given.certificatePem, 0]);
});

test('a pair that the directory has stays', async () => {
  const store = new MemoryCertificateStore();
  await store.update(other.certificatePem, other.keyPem);
  assert.deepEqual(await kept(store, given), [other.certificatePem, 0]);
});

test('a kubeconfig without a pair leaves the directory empty', async () => {
  assert.deepEqual(await kept(new MemoryCertificateStore(), undefined), [undefined, 0]);
});

test('a directory that cannot be read, and a pair that does not fit, are reported and change nothing', async () => {
  const store = new MemoryCertificateStore();
  store.broken = new Error('EACCES');
  assert.deepEqual(await kept(store, given), [undefined, 1]);
  assert.deepEqual(await kept(new MemoryCertificateStore(), { ...given, keyPem: other.keyPem }), [undefined, 1]);
});
