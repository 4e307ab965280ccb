import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { MAX_VOLUME_FILE_BYTES } from '../../../src/volumes/read-volume-file.ts';
import { podWith, VolumeStage } from '../../fakes/volume-stage.ts';

const signal = AbortSignal.timeout(10_000);
const stage = VolumeStage.forTests();
const pod = podWith({ name: 'e', emptyDir: {} });
const volume = stage.dir('empty-dir', 'e');
const read = (path: string, name = 'e') => stage.volumes.readFile(pod, name, path, signal);

test('a file of a volume is read, by way of links within it', async () => {
  await stage.volumes.prepare(pod, signal);
  await mkdir(join(volume, 'etc'));
  await writeFile(join(volume, 'etc/login.env'), "A='1'");
  await symlink('/etc', join(volume, 'link'));
  for (const path of ['etc/login.env', 'link/login.env', '/link/../etc/login.env'])
    assert.deepEqual(await read(path), { path: join(volume, path), text: "A='1'" });
});

test('a volume that the pod does not have here holds no file', async () => {
  assert.equal(await read('login.env'), undefined);
  await stage.volumes.prepare(pod, signal);
  assert.equal(await read('login.env', 'other'), undefined);
});

test('no link leads to a file outside of the volume', async () => {
  await stage.volumes.prepare(pod, signal);
  await symlink('/etc/passwd', join(volume, 'absolute'));
  await symlink('../../../../../../../etc/passwd', join(volume, 'relative'));
  for (const path of ['absolute', 'relative', '../../../../../../../etc/passwd']) await assert.rejects(read(path), { code: 'ENOENT' });
});

test('what is no file is not read', async () => {
  await stage.volumes.prepare(pod, signal);
  await promisify(execFile)('mkfifo', [join(volume, 'pipe')]);
  await assert.rejects(read('pipe'), /^NoFileError: it is a pipe, not a file$/);
  await assert.rejects(read('.'), /^NoFileError: it is a directory, not a file$/);
  await writeFile(join(volume, 'file'), '');
  await assert.rejects(read('file/below'), { code: 'ENOTDIR' });
});

test('a file as large as a ConfigMap is read, a larger one is not', async () => {
  await stage.volumes.prepare(pod, signal);
  const whole = 'x'.repeat(MAX_VOLUME_FILE_BYTES);
  await writeFile(join(volume, 'whole'), whole);
  assert.equal((await read('whole'))?.text.length, MAX_VOLUME_FILE_BYTES);
  await writeFile(join(volume, 'more'), `${whole}x`);
  await assert.rejects(read('more'), /^Error: it is larger than 1048576 bytes$/);
});
