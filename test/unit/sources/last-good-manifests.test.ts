import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { lastGoodManifests } from '../../../src/sources/last-good-manifests.ts';
import { ManifestDirectory, type ManifestScan } from '../../../src/sources/manifest-directory.ts';
import { staticPodReader } from '../../../src/sources/read-static-pods.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

let root: string;
let manifests: string;
let kept: string;
let log: RecordingLogger;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'last-good-'));
  manifests = join(root, 'manifests');
  kept = join(root, 'kept');
  mkdirSync(manifests);
  log = new RecordingLogger();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(manifests, name), text);
const names = ({ pods }: ManifestScan): readonly string[] | undefined => pods?.map(({ metadata }) => metadata.name);

/** An agent's whole life: what it declares on its first look. What it keeps is on disk when this resolves. */
async function oneLook(): Promise<ManifestScan> {
  const store = lastGoodManifests(kept, log);
  const keeping: Promise<void>[] = [];
  const keep = (path: string, content: Uint8Array): Promise<void> => {
    const kept = store.keep(path, content);
    keeping.push(kept);
    return kept;
  };
  const read = staticPodReader({ source: 'file', nodeName: 'n1', references: 'manifests', objects: true });
  const directory = new ManifestDirectory({
    path: manifests,
    read,
    settleMs: 0,
    lastGood: { ...store, keep },
    clock: { now: () => 0 },
    log,
  });
  const scan = await directory.scan([undefined]);
  await Promise.all(keeping);
  return scan;
}

test('a file that is broken when an agent starts keeps the pod that it made for the one before, as long as the file is there', async () => {
  write('a.yaml', aManifest('a'));
  write('b.yaml', aManifest('b'));
  const [before] = (await oneLook()).pods ?? [];
  write('a.yaml', 'kind: [');
  const broken = await oneLook();
  assert.deepEqual(names(broken), ['a-n1', 'b-n1']);
  assert.deepEqual(broken.pods?.[0], before);
  rmSync(join(manifests, 'a.yaml'));
  assert.deepEqual(names(await oneLook()), ['b-n1']);
  // It is another file now.
  write('a.yaml', 'kind: [');
  assert.deepEqual(names(await oneLook()), ['b-n1']);
});

test('what was good last counts, and a file that never was makes nothing', async () => {
  write('a.yaml', aManifest('a'));
  await oneLook();
  write('a.yaml', aManifest('other'));
  await oneLook();
  write('a.yaml', 'kind: [');
  write('never.yaml', 'kind: [');
  assert.deepEqual(names(await oneLook()), ['other-n1']);
});

test('what is kept is for its owner alone, and secrets are not kept', async () => {
  write('a.yaml', aManifest('a'));
  write('s.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: v}\n');
  assert.equal((await oneLook()).objects.length, 1);
  const files = readdirSync(kept);
  assert.equal(files.length, 1);
  assert.equal(statSync(join(kept, files[0] ?? '')).mode & 0o777, 0o600);
});

test('what cannot be kept is told, and keeps nobody from anything', async () => {
  writeFileSync(kept, '');
  write('a.yaml', aManifest('a'));
  assert.deepEqual(names(await oneLook()), ['a-n1']);
  assert.ok(log.lines.some(({ message }) => message.startsWith('the good state of a manifest cannot be kept')));
});
