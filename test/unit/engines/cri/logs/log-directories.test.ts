import assert from 'node:assert/strict';
import { mkdtemp, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogDirectories } from '../../../../../src/engines/cri/logs/log-directories.ts';
import type { PodUid } from '../../../../../src/model/pod.ts';
import { aPod } from '../../../../builders/a-pod.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';

async function setUp() {
  const root = await mkdtemp(join(tmpdir(), 'rxlet-cri-directories-'));
  const log = new RecordingLogger();
  const [pods, links] = [join(root, 'pods'), join(root, 'containers')];
  const pod = aPod('web', {}, { namespace: 'shop', uid: 'u1' as PodUid });
  return {
    directories: new LogDirectories(pods, links, log),
    log,
    pod,
    pods,
    links,
    owner: { pod, container: 'app', attempt: 0 },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

test('directories and links are made as log collectors look for them', async () => {
  await using at = await setUp();
  const directory = await at.directories.makeForPod(at.pod);
  assert.equal(directory, join(at.pods, 'shop_web_u1'));
  await at.directories.makeForContainer(at.pod, 'app');
  assert.equal((await stat(join(directory, 'app'))).mode & 0o777, 0o755);
  await at.directories.link(at.owner, 'id1');
  await at.directories.link(at.owner, 'id1');
  assert.equal(await readlink(join(at.links, 'web_shop_app-id1.log')), join(directory, 'app/0.log'));
});

test('with a container go its log and what was rotated of it, and with the last one the directories', async () => {
  await using at = await setUp();
  const directory = await at.directories.makeForPod(at.pod);
  await at.directories.makeForContainer(at.pod, 'app');
  for (const name of ['0.log', '0.log.20260304-050607', '0.log.20260304-050600.gz', '1.log'])
    await writeFile(join(directory, 'app', name), '');
  await at.directories.link(at.owner, 'id1');
  await at.directories.remove(at.owner, 'id1');
  assert.deepEqual(await readdir(join(directory, 'app')), ['1.log']);
  assert.deepEqual(await readdir(at.links), []);
  await at.directories.remove({ ...at.owner, attempt: 1 }, 'id2');
  assert.deepEqual(await readdir(at.pods), []);
  await at.directories.remove(at.owner, 'id1');
  await at.directories.removeOfPod(at.pod);
  assert.deepEqual(at.log.lines, []);
});

test('names that lead elsewhere are refused for what has to be made, and leave the rest alone', async () => {
  await using at = await setUp();
  const evil = { ...at.pod, metadata: { ...at.pod.metadata, uid: '../../x' as PodUid } };
  await assert.rejects(at.directories.makeForPod(evil), /is no part of a file name/);
  await assert.rejects(at.directories.makeForContainer(at.pod, '..'), /is no part of a file name/);
  await at.directories.remove({ ...at.owner, pod: evil }, 'id1');
  await at.directories.removeOfPod(evil);
  assert.deepEqual(
    at.log.lines.map(({ level }) => level),
    ['warn'],
    'trouble is warned of once',
  );
});
