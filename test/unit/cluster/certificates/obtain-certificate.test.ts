import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ClientIdentity } from '../../../../src/cluster/certificates/client-identity.ts';
import { CertificateRefusedError } from '../../../../src/cluster/certificates/csr-client.ts';
import { clientCertificateOf, obtainCertificate } from '../../../../src/cluster/certificates/obtain-certificate.ts';
import { ApiError, ApiUnreachableError } from '../../../../src/model/api-error.ts';
import { HOUR_MS, signRequest } from '../../../builders/a-client-certificate.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { FakeCsrApi } from '../../../fakes/fake-csr-api.ts';
import { MemoryCertificateStore } from '../../../fakes/memory-certificate-store.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';

const MINUTE_MS = 60_000;
let clock: FakeClock;
let api: FakeCsrApi;
let store: MemoryCertificateStore;
let log: RecordingLogger;

beforeEach(() => {
  clock = new FakeClock();
  clock.frame = Date.parse('2026-01-01T00:00:00Z');
  api = new FakeCsrApi();
  store = new MemoryCertificateStore();
  log = new RecordingLogger();
});
afterEach(() => {
  assert.equal(api.watchers, 0, 'nobody watches any more');
  assert.deepEqual(clock.actions, [], 'no timer is left');
});

const obtain = (signal = new AbortController().signal): Promise<ClientIdentity> =>
  obtainCertificate({ store, wanted: clientCertificateOf('a'), clock, log }, api, signal);
const sign = (requestPem: string): string => signRequest(requestPem, { notBeforeMs: clock.now(), notAfterMs: clock.now() + HOUR_MS });
/** A request that waits for its answer. */
async function waiting(): Promise<{ readonly name: string; readonly outcome: Promise<unknown> }> {
  const outcome = obtain().catch((error: unknown) => error);
  await log.next('client certificate requested, waiting until it is approved and signed');
  return { name: api.names.at(-1) ?? '', outcome };
}

test('a certificate is asked for as the kubelet asks', async () => {
  api.approver = sign;
  const identity = await obtain();
  assert.equal(identity.commonName, 'system:node:a');
  assert.equal(store.identity, identity);
  assert.equal(store.pending, undefined);
  const [request] = api.sent;
  assert.equal(`${request?.method} ${request?.path}`, 'POST /apis/certificates.k8s.io/v1/certificatesigningrequests');
  const { spec } = api.get(api.names[0] ?? '') ?? {};
  assert.equal(spec?.signerName, 'kubernetes.io/kube-apiserver-client-kubelet');
  assert.deepEqual(spec?.usages, ['digital signature', 'key encipherment', 'client auth']);
  assert.match(api.requestPem(api.names[0] ?? ''), /^-----BEGIN CERTIFICATE REQUEST-----\n/);
});

test('it is waited for until somebody approves', async () => {
  const { name, outcome } = await waiting();
  await clock.advance(10 * MINUTE_MS);
  api.approve(name, () => undefined);
  await clock.advance(MINUTE_MS);
  assert.equal(store.identity, undefined);
  api.approve(name, sign);
  assert.equal(await outcome, store.identity);
});

test('after a restart the same request is found again', async () => {
  const stop = new AbortController();
  const interrupted = obtain(stop.signal);
  await log.next('client certificate requested, waiting until it is approved and signed');
  stop.abort(new Error('stopped'));
  await assert.rejects(interrupted, { message: 'stopped' });
  const { name, outcome } = await waiting();
  assert.deepEqual(api.names, [name]);
  api.approve(name, sign);
  assert.equal(await outcome, store.identity);
});

test('an answer that came while the agent was away is taken', async () => {
  const stop = new AbortController();
  const interrupted = obtain(stop.signal);
  await log.next('client certificate requested, waiting until it is approved and signed');
  stop.abort();
  await assert.rejects(interrupted);
  api.approve(api.names[0] ?? '', sign);
  assert.equal((await obtain()).commonName, 'system:node:a');
});

for (const [type, said] of [
  ['Denied', 'is denied, reason: Because, message: not this one'],
  ['Failed', 'failed, reason: Because, message: not this one'],
] as const) {
  test(`${type} is explained, and the next request is another one`, async () => {
    const { name, outcome } = await waiting();
    api.decide(name, { type, reason: 'Because', message: 'not this one' });
    assert.equal(String(await outcome), `CertificateRefusedError: certificate signing request ${name} ${said}`);
    const next = await waiting();
    assert.notEqual(next.name, name);
    api.approve(next.name, sign);
    await next.outcome;
  });
}

test('a request that is deleted is not waited for', async () => {
  const { name, outcome } = await waiting();
  api.remove(name);
  assert.match(String(await outcome), /was deleted before it was signed/);
  assert.equal(store.pending, undefined);
});

for (const [what, approve, advice] of [
  ['not approved', false, /not approved within 15 minutes: approve it \(kubectl certificate approve node-csr-/],
  [
    'approved and not signed',
    true,
    /approved but not signed within 15 minutes: does the controller manager have --cluster-signing-cert-file/,
  ],
] as const) {
  test(`a request that is ${what} is given up after 15 minutes, and found again the next time`, async () => {
    const { name, outcome } = await waiting();
    if (approve) api.approve(name, () => undefined);
    await clock.advance(15 * MINUTE_MS - 1);
    assert.equal(api.watchers, 1);
    await clock.advance(1);
    assert.match(String(await outcome), advice);
    const again = await waiting();
    assert.equal(again.name, name);
    api.approve(name, sign);
    await again.outcome;
  });
}

for (const [what, facts, said] of [
  [
    'another node',
    { commonName: 'system:node:b', notAfterMs: Date.parse('2026-01-02T00:00:00Z') },
    'for "system:node:b" in place of "system:node:a"',
  ],
  ['the past', { notAfterMs: Date.parse('2025-12-31T23:00:00Z') }, 'that expired at 2025-12-31T23:00:00Z'],
] as const) {
  test(`a certificate for ${what} is refused, and the next request is another one`, async () => {
    api.approver = (requestPem) => signRequest(requestPem, { notBeforeMs: Date.parse('2025-12-31T00:00:00Z'), ...facts });
    const error: unknown = await obtain().catch((error: unknown) => error);
    const [name] = api.names;
    assert.equal(String(error), `CertificateRefusedError: certificate signing request ${name} was answered with a certificate ${said}`);
    assert.equal(store.identity, undefined);
    assert.equal(store.pending, undefined);
  });
}

test('an answer that is no certificate is refused', async () => {
  api.approver = () => 'nonsense';
  await assert.rejects(obtain(), /was answered with a certificate of no use/);
  assert.equal(store.pending, undefined);
});

for (const [status, said] of [
  [401, 'does not accept the credentials'],
  [403, 'the credentials do not allow it'],
  [404, 'does not serve certificates.k8s.io/v1'],
] as const) {
  test(`${status} is an answer about the credentials or the server, and keeps the key`, async () => {
    api.failures.push(new ApiError(status, 'Reason', 'the server said so'));
    await assert.rejects(obtain(), (error) => {
      assert.ok(error instanceof CertificateRefusedError && error.refused === 'credentials');
      return error.message.includes(said);
    });
    assert.notEqual(store.pending, undefined);
  });
}

for (const failure of [new ApiUnreachableError('no route'), new ApiError(500, 'InternalError', 'oops')]) {
  test(`${failure.name} ${failure.message} is passed on as it is`, async () => {
    api.failures.push(failure);
    await assert.rejects(obtain(), failure);
    assert.notEqual(store.pending, undefined);
  });
}
