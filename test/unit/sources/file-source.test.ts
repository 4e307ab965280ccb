import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { PodSource } from '../../../src/ports/pod-source.ts';
import { fileSource } from '../../../src/sources/file-source.ts';
import { aManifest } from '../../builders/a-manifest.ts';
import { imageOf, namesOf, Snapshots } from '../../builders/snapshots.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { silentHappenings } from '../../fakes/silent-happenings.ts';

let root: string;
let directory: string;
let log: RecordingLogger;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'manifests-'));
  directory = join(root, 'manifests');
  mkdirSync(directory);
  log = new RecordingLogger();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Rescans never come by themselves here, so that what is seen was seen by the watch. */
const source = (path = directory, rescanMs = 1e8): PodSource =>
  fileSource({ path, nodeName: 'n1', rescanMs: () => rescanMs, clock: systemClock, log, tell: silentHappenings, settleMs: 20 });
const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
const replace = (name: string, text: string): void => {
  writeFileSync(join(directory, '.new'), text);
  renameSync(join(directory, '.new'), join(directory, name));
};
const remove = (name: string): void => rmSync(join(directory, name));

test('the first snapshot has every manifest, in the order of file names', async () => {
  write('b.yaml', aManifest('bee'));
  write(
    'a.json',
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'ay' }, spec: { containers: [{ name: 'c', image: 'i' }] } }),
  );
  using snapshots = new Snapshots(source());
  assert.deepEqual(namesOf(await snapshots.next()), ['ay-n1', 'bee-n1']);
});

test('the first snapshot waits for a manifest that is half written, and knows of one that stays faulty', async () => {
  const text = aManifest('late');
  write('a.yaml', aManifest('a'));
  write('late.yaml', 'kind: [');
  const from = source();
  using snapshots = new Snapshots(from);
  replace('late.yaml', text);
  assert.deepEqual(namesOf(await snapshots.next()), ['a-n1', 'late-n1']);
  assert.equal(from.isFaulty?.(), false);
  const refused = log.next('manifest refused');
  replace('bad.yaml', 'kind: [');
  await refused;
  assert.equal(from.isFaulty?.(), true);
  remove('bad.yaml');
  replace('more.yaml', aManifest('more'));
  assert.deepEqual(namesOf(await snapshots.next()), ['a-n1', 'late-n1', 'more-n1']);
});

test('an empty directory is a snapshot too', async () => {
  using snapshots = new Snapshots(source());
  assert.deepEqual(await snapshots.next(), []);
});

test('adding, replacing and removing a manifest is seen by the watch; pods that did not change keep their identity', async () => {
  write('a.yaml', aManifest('a'));
  using snapshots = new Snapshots(source());
  const first = await snapshots.next();
  replace('b.yaml', aManifest('b'));
  const second = await snapshots.next();
  assert.deepEqual(namesOf(second), ['a-n1', 'b-n1']);
  assert.equal(second[0], first[0]);
  replace('b.yaml', aManifest('b', 'busybox:2'));
  const third = await snapshots.next();
  assert.equal(imageOf(third, 'b-n1'), 'busybox:2');
  assert.equal(third[0], first[0]);
  remove('a.yaml');
  assert.deepEqual(namesOf(await snapshots.next()), ['b-n1']);
});

test('a change that means nothing is no snapshot', async () => {
  write('a.yaml', aManifest('a'));
  using snapshots = new Snapshots(source());
  const first = await snapshots.next();
  replace('a.yaml', `# a comment\n${aManifest('a')}`);
  replace('b.yaml', aManifest('b'));
  const second = await snapshots.next();
  assert.equal(second[0], first[0]);
  assert.equal(snapshots.waiting, 0);
});

test('a manifest that went bad is refused once, with its place, and its pod stays (last known good)', async () => {
  write('a.yaml', aManifest('a'));
  using snapshots = new Snapshots(source());
  const first = await snapshots.next();
  const refused = log.next('manifest refused');
  write('a.yaml', aManifest('a').replace('image: busybox:1.35', 'image: [oops]'));
  assert.deepEqual((await refused).fields, {
    fault: `${join(directory, 'a.yaml')}:8:12 spec.containers[0].image: expected a string, found a list`,
    keeps: 'default/a-n1',
  });
  replace('b.yaml', aManifest('b'));
  assert.equal((await snapshots.next())[0], first[0]);
  assert.equal(log.count('manifest refused'), 1);
  const healed = log.next('manifest is good again');
  write('a.yaml', aManifest('a', 'busybox:2'));
  assert.equal(imageOf(await snapshots.next(), 'a-n1'), 'busybox:2');
  await healed;
});

test('a half-written manifest is neither gone nor nonsense', async () => {
  write('a.yaml', aManifest('a'));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  write('a.yaml', '');
  write('a.yaml', aManifest('a', 'busybox:2').slice(0, 40));
  write('a.yaml', aManifest('a', 'busybox:2'));
  assert.equal(imageOf(await snapshots.next(), 'a-n1'), 'busybox:2');
  remove('a.yaml');
  write('a.yaml', aManifest('a', 'busybox:3'));
  assert.equal(imageOf(await snapshots.next(), 'a-n1'), 'busybox:3');
  assert.deepEqual(log.lines, []);
});

test('a bad manifest harms no other, and one that never was good makes no pod', async () => {
  write('a.yaml', 'kind: Nonsense\n');
  write('b.yaml', aManifest('b'));
  const refused = log.next('manifest refused');
  using snapshots = new Snapshots(source());
  assert.deepEqual(namesOf(await snapshots.next()), ['b-n1']);
  assert.equal((await refused).fields['keeps'], 'no pod');
});

test('web.yaml.backup does not win: it is not read, and that is said once (kubernetes/kubernetes#136962)', async () => {
  write('web.yaml', aManifest('web', 'new'));
  write('web.yaml.backup', aManifest('web', 'old'));
  write('.hidden.yaml', aManifest('hidden'));
  using snapshots = new Snapshots(source());
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'new');
  write('web.yaml.backup', aManifest('web', 'older'));
  replace('z.yaml', aManifest('z'));
  assert.deepEqual(namesOf(await snapshots.next()), ['web-n1', 'z-n1']);
  assert.deepEqual(
    log.lines.map(({ message, fields }) => [message, fields['file']]),
    [['not read as a manifest', join(directory, 'web.yaml.backup')]],
  );
});

test('of two files that name one pod the first wins, loudly with both names, and the other takes over when it goes', async () => {
  write('a.yaml', aManifest('web', 'first'));
  write('b.yaml', aManifest('web', 'second'));
  using snapshots = new Snapshots(source());
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'first');
  const said = 'two manifests name one pod: the first file runs, the other is ignored';
  assert.deepEqual(log.lines, [
    {
      level: 'error',
      message: said,
      fields: { pod: 'default/web-n1', runs: join(directory, 'a.yaml'), ignored: join(directory, 'b.yaml') },
    },
  ]);
  remove('a.yaml');
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'second');
  assert.equal(log.count(said), 1);
});

test('a manifest that is moved to another name keeps its pod', async () => {
  write('a.yaml', aManifest('web'));
  using snapshots = new Snapshots(source());
  const [first] = await snapshots.next();
  renameSync(join(directory, 'a.yaml'), join(directory, 'z.yaml'));
  replace('y.yaml', aManifest('other'));
  let pods = await snapshots.next();
  while (!namesOf(pods).includes('other-n1')) pods = await snapshots.next();
  assert.equal(pods.find(({ metadata }) => metadata.name === 'web-n1')?.metadata.uid, first?.metadata.uid);
  assert.equal(log.count('two manifests name one pod: the first file runs, the other is ignored'), 0);
});

test('links to files are followed, and a swap of ..data is seen', async () => {
  for (const [version, image] of [
    ['..v1', 'old'],
    ['..v2', 'new'],
  ] as const) {
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'web.yaml'), aManifest('web', image));
  }
  symlinkSync('..v1', join(directory, '..data'));
  symlinkSync('..data/web.yaml', join(directory, 'web.yaml'));
  using snapshots = new Snapshots(source());
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'old');
  symlinkSync('..v2', join(directory, '..tmp'));
  renameSync(join(directory, '..tmp'), join(directory, '..data'));
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'new');
});

test('directories and sockets are skipped, and that is said once', async () => {
  mkdirSync(join(directory, 'sub'));
  const server = createServer().listen(join(directory, 'socket'));
  await once(server, 'listening');
  write('a.yaml', aManifest('a'));
  using snapshots = new Snapshots(source());
  assert.deepEqual(namesOf(await snapshots.next()), ['a-n1']);
  replace('b.yaml', aManifest('b'));
  await snapshots.next();
  assert.deepEqual(
    log.lines.map(({ fields }) => fields['why']),
    ['not a regular file', 'a directory'],
  );
  server.close();
});

test('a directory that vanishes takes no pod away; back again, it is watched again', async () => {
  write('a.yaml', aManifest('a'));
  using snapshots = new Snapshots(source());
  await snapshots.next();
  const lost = log.next('manifests cannot be read: their pods stay as they are');
  renameSync(directory, `${directory}.away`);
  await lost;
  const back = log.next('manifests can be read again');
  mkdirSync(directory);
  write('a.yaml', aManifest('a'));
  write('b.yaml', aManifest('b'));
  let pods = await snapshots.next();
  while (pods.length < 2) pods = await snapshots.next();
  assert.deepEqual(namesOf(pods), ['a-n1', 'b-n1']);
  await back;
  replace('b.yaml', aManifest('b', 'busybox:2'));
  assert.equal(imageOf(await snapshots.next(), 'b-n1'), 'busybox:2');
});

test('a directory that is not there yet is waited for, without a snapshot', async () => {
  rmSync(directory, { recursive: true });
  const waiting = log.next('manifests cannot be read yet: waiting for them');
  using snapshots = new Snapshots(source());
  await waiting;
  assert.equal(snapshots.waiting, 0);
  mkdirSync(directory);
  assert.deepEqual(await snapshots.next(), []);
  assert.equal(log.count('manifests cannot be read yet: waiting for them'), 1);
});

test('what the watch misses a rescan finds', async () => {
  const target = join(root, 'elsewhere.yaml');
  writeFileSync(target, aManifest('web', 'old'));
  symlinkSync(target, join(directory, 'web.yaml'));
  using snapshots = new Snapshots(source(directory, 20));
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'old');
  writeFileSync(target, aManifest('web', 'newer'));
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'newer');
});

test('the path may be one manifest; when it is removed its pod goes', async () => {
  write('web.yaml', aManifest('web'));
  write('other.yaml', aManifest('other'));
  using snapshots = new Snapshots(source(join(directory, 'web.yaml')));
  assert.deepEqual(namesOf(await snapshots.next()), ['web-n1']);
  replace('web.yaml', aManifest('web', 'busybox:2'));
  assert.equal(imageOf(await snapshots.next(), 'web-n1'), 'busybox:2');
  remove('web.yaml');
  assert.deepEqual(await snapshots.next(), []);
});
