import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CheckpointStore } from '../../../src/dynamicconfig/checkpoint-store.ts';
import { aSource } from './some-sources.ts';

let dir: string;
let store: CheckpointStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rxlet-checkpoints-'));
  store = new CheckpointStore(dir);
  await store.initialize();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('the layout on disk is that of Kubernetes', async () => {
  await store.save(aSource(), { kubelet: 'a', more: 'b' });
  await store.set('assigned', aSource());
  assert.deepEqual((await readdir(join(dir, 'store/meta'))).toSorted(), ['assigned', 'last-known-good']);
  assert.equal(await readFile(join(dir, 'store/checkpoints', aSource().uid, '7/kubelet'), 'utf8'), 'a');
  assert.equal(store.fileOf(aSource()), join(dir, 'store/checkpoints', aSource().uid, '7/kubelet'));
  assert.equal(await store.has(aSource()), true);
  assert.equal(await store.has(aSource({ resourceVersion: '8' })), false);
  assert.deepEqual(await store.source('assigned'), aSource());
  assert.equal(await store.source('last-known-good'), undefined);
});

test('an empty record is the own configuration of the node, and beginning again keeps what is there', async () => {
  await store.set('assigned', aSource());
  await store.initialize();
  assert.deepEqual(await store.source('assigned'), aSource());
  await store.set('assigned', undefined);
  assert.equal(await store.source('assigned'), undefined);
});

test('a record that cannot be used is an error that names the file', async () => {
  await writeFile(join(dir, 'store/meta/assigned'), 'source: {configMap: {uid: ../..}}');
  await assert.rejects(store.source('assigned'), /meta\/assigned cannot be used/);
});

describe('a ConfigMap is not kept', () => {
  for (const [what, files] of [
    ['with a key like ../../x', { kubelet: 'a', '../../x': 'b' }],
    ['with a key like ..', { '..': 'b' }],
    ['that is larger than ConfigMaps can be', { kubelet: 'x'.repeat(2 ** 20 + 1) }],
  ] as const)
    test(what, async () => {
      await assert.rejects(store.save(aSource(), files), /cannot be kept/);
      assert.deepEqual(await readdir(join(dir, 'store/checkpoints')), []);
      assert.deepEqual(await readdir(dir), ['store']);
    });
});

test('a version is there whole or not at all, and one of the largest size is kept', async () => {
  await store.save(aSource(), { kubelet: 'x'.repeat(2 ** 20) });
  await store.save(aSource(), { kubelet: 'again' });
  assert.deepEqual(await readdir(join(dir, 'store/checkpoints', aSource().uid)), ['7']);
});

test('of many versions those in use are kept', async () => {
  const sources = Array.from({ length: 50 }, (_, n) => aSource({ resourceVersion: String(n), uid: n % 2 === 0 ? 'even' : 'odd' }));
  for (const source of sources) await store.save(source, { kubelet: 'a' });
  await store.keepOnly([sources[4], undefined, sources[48]]);
  assert.deepEqual(await readdir(join(dir, 'store/checkpoints')), ['even']);
  assert.deepEqual((await readdir(join(dir, 'store/checkpoints/even'))).toSorted(), ['4', '48']);
});
