import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Logger, silentLogger } from '../../../../../src/base/logger.ts';
import { type LoggedContainer, LogLinks } from '../../../../../src/engines/docker/logs/log-links.ts';
import type { PodUid } from '../../../../../src/model/pod.ts';

const { signal } = new AbortController();

describe('log links', () => {
  let root: string;
  let pods: string;
  let outside: string;
  let links: LogLinks;
  let warnings: string[];
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'rxlet-links-'));
    pods = join(root, 'log/pods');
    outside = join(root, 'outside');
    await mkdir(outside);
    warnings = [];
    const log: Logger = { ...silentLogger, warn: (message, fields) => warnings.push(`${message}: ${String(fields?.['error'])}`) };
    links = new LogLinks(pods, join(root, 'log/containers'), log);
  });
  afterEach(() => rm(root, { recursive: true }));

  const of = (over: { readonly name?: string; readonly uid?: string; readonly container?: string; readonly attempt?: number } = {}) => {
    const { name = 'web', uid = 'u1', container = 'app', attempt = 0 } = over;
    return { pod: { metadata: { name, namespace: 'ns', uid: uid as PodUid } }, container, attempt, id: 'abc' } satisfies LoggedContainer;
  };

  test('are made, replaced and removed with the directories that this empties', async () => {
    await links.link(of(), '/engine/old.log');
    await links.link(of(), '/engine/abc.log');
    await links.linkLegacy(of());
    assert.equal(await readlink(join(pods, 'ns_web_u1/app/0.log')), '/engine/abc.log');
    assert.equal(await readlink(join(root, 'log/containers/web_ns_app-abc.log')), join(pods, 'ns_web_u1/app/0.log'));
    await links.unlink(of());
    await links.unlink(of());
    assert.deepEqual([await readdir(pods), await readdir(join(root, 'log/containers')), warnings], [[], [], []]);
  });

  test('of other attempts stay', async () => {
    for (const attempt of [0, 1]) await links.link(of({ attempt }), '/engine/abc.log');
    await links.unlink(of({ attempt: 0 }));
    assert.deepEqual(await readdir(join(pods, 'ns_web_u1/app')), ['1.log']);
  });

  test('of which a killed agent left only some directories go all the same', async () => {
    await mkdir(join(pods, 'ns_web_u1'), { recursive: true });
    await links.unlink(of());
    assert.deepEqual(await readdir(pods), []);
    await mkdir(join(pods, 'ns_web_u1/app'), { recursive: true });
    await links.unlink(of());
    assert.deepEqual([await readdir(pods), warnings], [[], []]);
  });

  for (const part of ['../../outside', '..', 'a/b', ''])
    test(`a name like ${JSON.stringify(part)} leads nowhere`, async () => {
      for (const each of [of({ uid: part }), of({ name: part }), of({ container: part })]) {
        await links.link(each, '/engine/abc.log');
        await links.linkLegacy(each);
        await links.unlink(each);
      }
      assert.deepEqual([await readdir(root), await readdir(outside)], [['outside'], []]);
      assert.equal(warnings.length, 1);
    });

  test('a pod directory that is a link elsewhere is not followed, neither to make nor to remove', async () => {
    await mkdir(pods, { recursive: true });
    await mkdir(join(outside, 'app'));
    await symlink('/precious', join(outside, 'app/0.log'));
    await symlink(outside, join(pods, 'ns_web_u1'));
    await links.link(of(), '/engine/abc.log');
    await links.unlink(of());
    assert.equal(await readlink(join(outside, 'app/0.log')), '/precious');
    assert.match(warnings.join('\n'), /ns_web_u1 is no directory/);
  });

  test('of containers that others removed go at the second sweep, with the directories that this empties; those of others stay', async () => {
    const logFile = join(outside, 'abc.log');
    await writeFile(logFile, 'hello');
    await writeFile(join(outside, 'def.log'), 'hello');
    await links.link(of(), logFile);
    await links.linkLegacy(of());
    await links.link(of({ name: 'other' }), join(outside, 'def.log'));
    await links.linkLegacy({ ...of({ name: 'other' }), id: 'def' });
    const legacy = join(root, 'log/containers');
    await symlink('/nowhere', join(legacy, 'of-somebody.log'));
    await mkdir(join(pods, 'ns_empty_u2/app'), { recursive: true });
    await links.sweep(signal);
    await rm(logFile);
    await links.sweep(signal);
    assert.deepEqual(await readdir(legacy), ['of-somebody.log', 'other_ns_app-def.log', 'web_ns_app-abc.log']);
    await links.sweep(signal);
    assert.deepEqual(await readdir(legacy), ['of-somebody.log', 'other_ns_app-def.log']);
    assert.deepEqual(await readdir(pods), ['ns_empty_u2', 'ns_other_u1']);
    assert.deepEqual(warnings, []);
  });

  test('of a log that is there again at the second sweep stay: it was being rotated', async () => {
    const logFile = join(outside, 'abc.log');
    await links.link(of(), logFile);
    await links.linkLegacy(of());
    await links.sweep(signal);
    await writeFile(logFile, 'hello');
    await links.sweep(signal);
    await rm(logFile);
    await links.sweep(signal);
    assert.deepEqual(await readdir(join(pods, 'ns_web_u1/app')), ['0.log']);
  });

  test('a sweep ends in the middle when the agent does, and the next one takes nothing away that was not seen twice', async () => {
    await links.link(of(), '/engine/abc.log');
    await links.link(of({ name: 'other' }), '/engine/def.log');
    const stop = new AbortController();
    const swept = links.sweep(stop.signal);
    stop.abort();
    await swept;
    await links.sweep(signal);
    assert.deepEqual(await readdir(pods), ['ns_other_u1', 'ns_web_u1']);
    assert.deepEqual(warnings, []);
  });

  test('a sweep without any logs directory finds nothing', async () => {
    await links.sweep(signal);
    assert.deepEqual([await readdir(root), warnings], [['outside'], []]);
  });

  test("a file where the link would be is somebody's and stays", async () => {
    await mkdir(join(pods, 'ns_web_u1/app'), { recursive: true });
    const file = join(pods, 'ns_web_u1/app/0.log');
    await writeFile(file, 'precious');
    await links.link(of(), '/engine/abc.log');
    await links.unlink(of());
    assert.ok((await lstat(file)).isFile());
    assert.match(warnings.join('\n'), /is in the way/);
  });

  test('directories that cannot be made are warned of once', async () => {
    await writeFile(join(root, 'log'), 'a file');
    for (const attempt of [0, 1, 2]) {
      await links.link(of({ attempt }), '/engine/abc.log');
      await links.linkLegacy(of({ attempt }));
    }
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^links to container logs cannot be kept; pods run on without them: Error: ENOTDIR/);
  });
});
