import assert from 'node:assert/strict';
import { chmod, mkdtemp, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CertificateStore } from '../../../../src/cluster/certificates/certificate-store.ts';
import { ClientCertificateError } from '../../../../src/cluster/certificates/client-identity.ts';
import { aClientCertificate, HOUR_MS } from '../../../builders/a-client-certificate.ts';

const nowMs = Date.parse('2026-02-03T04:05:06.789Z');
const life = { notBeforeMs: nowMs, notAfterMs: nowMs + HOUR_MS };
let directory: string;
let store: CertificateStore;
let atMs: number;

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'rxlet-pki-')), 'pki');
  atMs = nowMs;
  store = new CertificateStore(directory, { now: () => atMs });
});
afterEach(() => rm(join(directory, '..'), { recursive: true }));

test('an empty store has no pair', async () => {
  assert.equal(await store.current(), undefined);
});

test('a pair is kept as the kubelet keeps it: a dated file for its owner alone, and a link to it', async () => {
  const pair = aClientCertificate(life);
  const stored = await store.update(pair.certificatePem, pair.keyPem);
  const dated = join(directory, 'kubelet-client-2026-02-03-04-05-06.pem');
  assert.equal(await readlink(store.currentPath), dated);
  assert.equal(store.currentPath, join(directory, 'kubelet-client-current.pem'));
  assert.equal(await readFile(store.currentPath, 'utf8'), pair.certificatePem + pair.keyPem);
  assert.equal((await stat(dated)).mode & 0o777, 0o600);
  assert.deepEqual(await store.current(), stored);
  assert.deepEqual((await readdir(directory)).sort(), ['kubelet-client-2026-02-03-04-05-06.pem', 'kubelet-client-current.pem']);
});

test('a reader finds a whole pair at every moment of many swaps', async () => {
  const pairs = [aClientCertificate(life), aClientCertificate(life)];
  const texts = new Set(pairs.map(({ certificatePem, keyPem }) => certificatePem + keyPem));
  await store.update(pairs[0]!.certificatePem, pairs[0]!.keyPem);
  const swaps = new AbortController();
  const reads = (async () => {
    let count = 0;
    for (; !swaps.signal.aborted; count++) assert.ok(texts.has(await readFile(store.currentPath, 'utf8')));
    return count;
  })();
  for (let round = 0; round < 40; round++) {
    const { certificatePem, keyPem } = pairs[round % 2]!;
    atMs += 500;
    await store.update(certificatePem, keyPem);
  }
  swaps.abort();
  assert.ok((await reads) > 0);
});

test('a pair that does not fit leaves the current one in place', async () => {
  const pair = aClientCertificate(life);
  await store.update(pair.certificatePem, pair.keyPem);
  await assert.rejects(store.update(aClientCertificate(life).certificatePem, pair.keyPem), ClientCertificateError);
  assert.equal((await store.current())?.certificatePem, pair.certificatePem);
});

test('the link that a kubelet left under its first name is taken up', async () => {
  const pair = aClientCertificate(life);
  await store.update(pair.certificatePem, pair.keyPem);
  await rename(store.currentPath, join(directory, 'kubelet-client-updated.pem'));
  assert.equal((await store.current())?.certificatePem, pair.certificatePem);
});

test('a stale link of that name does not stop the next swap', async () => {
  await mkdir(directory);
  await symlink('/nowhere', join(directory, 'kubelet-client-updated.pem'));
  const pair = aClientCertificate(life);
  await store.update(pair.certificatePem, pair.keyPem);
  assert.equal((await store.current())?.certificatePem, pair.certificatePem);
});

test('a plain file in the place of the link is read, and kept when a link takes its place', async () => {
  const [old, next] = [aClientCertificate(life), aClientCertificate(life)];
  await mkdir(directory);
  await writeFile(store.currentPath, old.certificatePem + old.keyPem);
  assert.equal((await store.current())?.certificatePem, old.certificatePem);
  await store.update(next.certificatePem, next.keyPem);
  assert.equal((await store.current())?.certificatePem, next.certificatePem);
  const kept = join(directory, 'kubelet-client-replaced-2026-02-03-04-05-06.pem');
  assert.equal(await readFile(kept, 'utf8'), old.certificatePem + old.keyPem);
});

test('a certificate and a key in files of their own are read', async () => {
  const pair = aClientCertificate(life);
  await mkdir(directory);
  await writeFile(join(directory, 'kubelet-client.crt'), pair.certificatePem);
  assert.equal(await store.current(), undefined);
  await writeFile(join(directory, 'kubelet-client.key'), pair.keyPem);
  assert.equal((await store.current())?.certificatePem, pair.certificatePem);
});

test('a link to nothing, a directory and half a pair are explained', async () => {
  await mkdir(directory);
  await symlink('/nowhere.pem', store.currentPath);
  await assert.rejects(store.current(), { message: `${store.currentPath} links to /nowhere.pem, which does not exist` });
  await rm(store.currentPath);
  await mkdir(store.currentPath);
  await assert.rejects(store.current(), { message: `cannot read ${store.currentPath}` });
  await rm(store.currentPath, { recursive: true });
  await writeFile(store.currentPath, aClientCertificate(life).certificatePem);
  await assert.rejects(store.current(), { message: `there is no private key in ${store.currentPath}` });
});

test('a directory that cannot be made is explained', async () => {
  await writeFile(directory, '');
  const { certificatePem, keyPem } = aClientCertificate(life);
  await assert.rejects(store.update(certificatePem, keyPem), { message: `cannot store the new client certificate in ${directory}` });
  await assert.rejects(store.current(), ClientCertificateError);
});

test('the key of a request under way outlives a restart, until it is dropped', async () => {
  const key = await store.pendingKey();
  assert.equal(key.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.equal((await stat(join(directory, 'kubelet-client.key.tmp'))).mode & 0o777, 0o600);
  assert.ok((await new CertificateStore(directory, { now: () => atMs }).pendingKey()).equals(key));
  await store.dropPendingKey();
  await store.dropPendingKey();
  assert.ok(!(await store.pendingKey()).equals(key));
});

test('what is no key is replaced by one', async () => {
  await mkdir(directory);
  const path = join(directory, 'kubelet-client.key.tmp');
  await writeFile(path, 'no key');
  await chmod(path, 0o644);
  const key = await store.pendingKey();
  assert.ok((await store.pendingKey()).equals(key));
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});
