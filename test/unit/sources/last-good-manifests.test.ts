import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { lastGoodManifests } from '../../../src/sources/last-good-manifests.ts';
import { ManifestDirectory, type ManifestScan } from '../../../src/sources/manifest-directory.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { manifestReader } from '../../../src/sources/read-manifest.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

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
  nowMs = 0;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(manifests, name), text);
const names = ({ pods }: ManifestScan): readonly string[] | undefined => pods?.map(({ metadata }) => metadata.name);

/** How long a file may be half written or missing before that counts. */
const SETTLE_MS = 100;
let nowMs = 0;

interface Looker {
  /** A look that finds what is there now and believes only what it has believed before. */
  glance(): Promise<ManifestScan>;
  /** As often as it takes until everything that was seen counts. */
  look(): Promise<ManifestScan>;
}

/** An agent, for as long as it is asked. What it keeps is on disk when a look resolves. */
function anAgent(path = manifests): Looker {
  const store = lastGoodManifests(kept, log);
  const keeping: Promise<void>[] = [];
  const keep = (file: string, content: Uint8Array): Promise<void> => {
    const kept = store.keep(file, content);
    keeping.push(kept);
    return kept;
  };
  const read = manifestReader({ source: 'file', nodeName: 'n1', references: 'manifests', objects: true }, new FakeClock());
  const directory = new ManifestDirectory({
    path,
    read,
    settleMs: SETTLE_MS,
    lastGood: { ...store, keep },
    clock: { monotonicMs: () => nowMs },
    log,
    tell: silentHappenings,
  });
  const glance = async (): Promise<ManifestScan> => {
    const scan = await directory.scan([undefined]);
    await Promise.all(keeping);
    return scan;
  };
  const look = async (): Promise<ManifestScan> => {
    let scan = await glance();
    for (let looks = 0; scan.unsettled && looks < 5; looks++) {
      nowMs += SETTLE_MS;
      scan = await glance();
    }
    return scan;
  };
  return { glance, look };
}

/** An agent's whole life: what it declares once it believes what it sees. */
const oneLook = (path?: string): Promise<ManifestScan> => anAgent(path).look();
const remove = (name: string): void => rmSync(join(manifests, name), { recursive: true });

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
  assert.ok(log.lines.some(({ message }) => message.startsWith('good state of a manifest not kept')));
});

for (const [what, text] of [
  ['broken', 'kind: ['],
  ['empty', ''],
] as const) {
  test(`a pod whose manifest was removed does not come back with a ${what} file of that name, in this agent's life or the next`, async () => {
    write('a.yaml', aManifest('a'));
    write('b.yaml', aManifest('b'));
    const agent = anAgent();
    assert.deepEqual(names(await agent.look()), ['a-n1', 'b-n1']);
    remove('a.yaml');
    assert.deepEqual(names(await agent.look()), ['b-n1']);
    write('a.yaml', text);
    assert.deepEqual(names(await agent.look()), ['b-n1']);
    assert.deepEqual(names(await oneLook()), ['b-n1']);
  });
}

test('a pod whose manifest was removed does not come back a hundred times over', async () => {
  const agent = anAgent();
  for (let round = 0; round < 100; round++) {
    write('a.yaml', aManifest('a', `busybox:${round}`));
    assert.deepEqual(names(await agent.look()), ['a-n1']);
    remove('a.yaml');
    assert.deepEqual(names(await agent.look()), []);
    write('a.yaml', 'kind: [');
    assert.deepEqual(names(await agent.look()), []);
    remove('a.yaml');
    await agent.look();
  }
  assert.deepEqual(readdirSync(kept), []);
});

test('a manifest that is deleted and written again within a moment keeps its pod, also where the agent starts just then', async () => {
  write('a.yaml', aManifest('a'));
  const agent = anAgent();
  await agent.look();
  for (const next of [agent, anAgent()]) {
    remove('a.yaml');
    await next.glance();
    write('a.yaml', '');
    assert.deepEqual(names(await next.glance()), ['a-n1']);
    assert.deepEqual(names(await next.look()), ['a-n1']);
    write('a.yaml', aManifest('a'));
    assert.deepEqual(names(await next.look()), ['a-n1']);
  }
});

test('of a manifest that is missing for a moment when an agent starts, nothing is believed before the moment is over', async () => {
  write('a.yaml', aManifest('a'));
  await oneLook();
  remove('a.yaml');
  const agent = anAgent();
  assert.equal((await agent.glance()).unsettled, true);
  nowMs += SETTLE_MS;
  const settled = await agent.glance();
  assert.deepEqual([names(settled), settled.unsettled], [[], false]);
  write('a.yaml', 'kind: [');
  assert.deepEqual(names(await agent.look()), []);
});

test('a pod whose manifest was renamed does not come back in its former name, and keeps running under the new one', async () => {
  write('a.yaml', aManifest('web', 'one'));
  const agent = anAgent();
  await agent.look();
  renameSync(join(manifests, 'a.yaml'), join(manifests, 'b.yaml'));
  assert.deepEqual(names(await agent.look()), ['web-n1']);
  write('b.yaml', aManifest('web', 'two'));
  await agent.look();
  for (const each of [agent, anAgent()]) {
    write('a.yaml', 'kind: [');
    const { pods } = await each.look();
    assert.deepEqual(
      pods?.map(({ spec }) => spec.containers[0]?.image),
      ['two'],
    );
  }
});

test('of two files that name one pod, the one that was removed does not win again when a broken file takes its name', async () => {
  write('a.yaml', aManifest('web', 'removed'));
  write('b.yaml', aManifest('web', 'stays'));
  const agent = anAgent();
  assert.equal((await agent.look()).pods?.[0]?.spec.containers[0]?.image, 'removed');
  remove('a.yaml');
  await agent.look();
  write('a.yaml', '');
  for (const each of [agent, anAgent()]) assert.equal((await each.look()).pods?.[0]?.spec.containers[0]?.image, 'stays');
});

test('a directory that cannot be read removes nothing: what was good before still counts when it is back', async () => {
  write('a.yaml', aManifest('a'));
  const agent = anAgent();
  await agent.look();
  for (const each of [agent, anAgent()]) {
    renameSync(manifests, `${manifests}.away`);
    assert.deepEqual(names(await each.look()), each === agent ? ['a-n1'] : undefined);
    renameSync(`${manifests}.away`, manifests);
    write('a.yaml', 'kind: [');
    assert.deepEqual(names(await each.look()), ['a-n1']);
  }
});

test('a directory that comes back without a manifest has removed it for good', async () => {
  write('a.yaml', aManifest('a'));
  const agent = anAgent();
  await agent.look();
  renameSync(manifests, `${manifests}.away`);
  await agent.look();
  mkdirSync(manifests);
  assert.deepEqual(names(await agent.look()), []);
  write('a.yaml', 'kind: [');
  for (const each of [agent, anAgent()]) assert.deepEqual(names(await each.look()), []);
});

test('one manifest as the path: what was removed does not come back, be it removed while no agent runs', async () => {
  const path = join(manifests, 'a.yaml');
  write('a.yaml', aManifest('a'));
  const agent = anAgent(path);
  await agent.look();
  write('a.yaml', 'kind: [');
  assert.deepEqual(names(await oneLook(path)), ['a-n1']);
  remove('a.yaml');
  assert.deepEqual(names(await agent.look()), []);
  write('a.yaml', '');
  for (const each of [agent, anAgent(path)]) assert.deepEqual(names(await each.look()), []);

  write('a.yaml', aManifest('a'));
  await oneLook(path);
  remove('a.yaml');
  const later = anAgent(path);
  assert.deepEqual(names(await later.look()), []);
  write('a.yaml', 'kind: [');
  for (const each of [later, anAgent(path)]) assert.deepEqual(names(await each.look()), []);
});

test('a path that was one manifest and becomes a directory, or the other way round, brings nothing back', async () => {
  const path = join(root, 'either');
  writeFileSync(path, aManifest('a'));
  const agent = anAgent(path);
  await agent.look();
  rmSync(path);
  mkdirSync(path);
  writeFileSync(join(path, 'b.yaml'), aManifest('b'));
  assert.deepEqual(names(await agent.look()), ['b-n1']);
  rmSync(path, { recursive: true });
  writeFileSync(path, 'kind: [');
  for (const each of [agent, anAgent(path)]) assert.deepEqual(names(await each.look()), []);
});

test('a manifest in whose place something else came has been removed: a directory, a link to nothing, a Secret', async () => {
  const others: readonly (readonly [string, () => void])[] = [
    ['a directory', () => mkdirSync(join(manifests, 'a.yaml'))],
    ['a link to nothing', () => symlinkSync(join(root, 'nothing'), join(manifests, 'a.yaml'))],
    ['a Secret', () => write('a.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: v}\n')],
  ];
  for (const [what, make] of others) {
    for (const seenBy of ['this agent', 'the next']) {
      write('a.yaml', aManifest('a'));
      const agent = anAgent();
      await agent.look();
      remove('a.yaml');
      make();
      assert.deepEqual(names(await (seenBy === 'this agent' ? agent : anAgent()).look()), [], `${what}, ${seenBy}`);
      remove('a.yaml');
      write('a.yaml', 'kind: [');
      assert.deepEqual(names(await oneLook()), [], `${what}, ${seenBy}`);
      remove('a.yaml');
    }
  }
});

test('a removal that cannot be written down is told, and counts for as long as this agent runs', async () => {
  write('a.yaml', aManifest('a'));
  const agent = anAgent();
  await agent.look();
  const [file = ''] = readdirSync(kept);
  rmSync(join(kept, file));
  mkdirSync(join(kept, file));
  remove('a.yaml');
  assert.deepEqual(names(await agent.look()), []);
  assert.ok(log.lines.some(({ message }) => message.startsWith('last good state of a removed manifest not removed')));
  write('a.yaml', 'kind: [');
  assert.deepEqual(names(await agent.look()), []);
});
