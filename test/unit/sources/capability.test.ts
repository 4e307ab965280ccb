import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { firstOf } from '../../../src/base/first-of.ts';
import type { ManifestObject } from '../../../src/model/manifest-object.ts';
import { SomePods } from '../../../src/ports/pod-source.ts';
import { capability } from '../../../src/sources/capability.ts';
import { nodeUnderTest } from '../../builders/node-parts.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

test('the options name the sources', () => {
  const named = (over: Parameters<typeof nodeUnderTest>[0]): readonly string[] => {
    const { node } = nodeUnderTest(over);
    return (capability(node).sources ?? []).map(({ name }) => name);
  };
  assert.deepEqual(named({}), []);
  const options = { podManifestPath: '/etc/manifests', manifestUrl: 'http://127.0.0.1/pods' };
  assert.deepEqual(named({ options }), ['file', 'http']);
});

test('objects of the manifest directory are declared before its pods', async (t) => {
  const rootDir = await mkdtemp(join(tmpdir(), 'rxlet-sources-'));
  // What manifests said is kept in the background, also while all is removed.
  t.after(() => rm(rootDir, { recursive: true, maxRetries: 10 }));
  const directory = join(rootDir, 'manifests');
  await mkdir(directory);
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'b' } };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
  await writeFile(join(directory, 'settings.json'), JSON.stringify(settings));
  await writeFile(join(directory, 'web.json'), JSON.stringify(pod));
  const { node } = nodeUnderTest({ options: { podManifestPath: directory, rootDir } });
  const declared: (readonly ManifestObject[])[] = [];
  const objects = { ...node.objects, declare: (found: readonly ManifestObject[]) => void declared.push(found) };
  const [source] = capability({ ...node, clock: systemClock, objects }).sources ?? [];
  assert.ok(source);
  const snapshot = await firstOf(source.snapshots, AbortSignal.timeout(10_000));
  const pods = snapshot instanceof SomePods ? snapshot.put : snapshot;
  assert.equal(pods.length, 1);
  assert.equal(pods[0]?.metadata.name, 'web-n1');
  assert.equal(declared.at(-1)?.length, 1);
});

test('a manifest URL that fails in the same way twice within a minute is told of twice, and so is that it is well again', async (t) => {
  const { node, clock } = nodeUnderTest({ options: { manifestUrl: 'http://127.0.0.1/pods', httpCheckFrequencyMs: 1000 } });
  const [bad, good] = ['manifest URL cannot be read: its pods stay as they are', 'manifest URL can be read again'];
  let status = 500;
  t.mock.method(globalThis, 'fetch', async () => new Response('{"kind": "PodList", "apiVersion": "v1", "items": []}', { status }));
  const log = new RecordingLogger();
  const [source] = capability({ ...node, log }).sources ?? [];
  assert.ok(source);
  const following = source.snapshots.subscribe();
  for (status of [500, 200, 500, 200]) await clock.advance(2000);
  following.unsubscribe();
  assert.deepEqual(
    log.lines.map(({ message }) => message),
    [bad, good, bad, good],
  );
});
