import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type Touch, touchDirectly } from '../../../src/base/touch.ts';
import { checkHostPath, hostPathVolume } from '../../../src/volumes/host-path-volume.ts';
import { directHostFiles } from '../../fakes/direct-host-files.ts';
import type { VolumeTask } from '../../../src/volumes/volume-kind.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'rxlet-host-'));
});
afterEach(() => rm(root, { recursive: true }));

async function setUp(path: string, type?: string): Promise<unknown> {
  const kind = hostPathVolume({ hostPath: { path, ...(type !== undefined && { type }) } });
  assert.ok(kind);
  // Of the whole task this kind reads no more.
  return kind.setUp({ readOnly: false, hostFiles: directHostFiles } as Partial<VolumeTask> as VolumeTask, AbortSignal.timeout(5_000));
}

test('each type holds for its own kind of file, links followed, and for no other', async () => {
  await mkdir(join(root, 'directory'));
  await writeFile(join(root, 'file'), '');
  await symlink('file', join(root, 'link'));
  const server = createServer().listen(join(root, 'socket'));
  await once(server, 'listening');
  const paths = { Directory: 'directory', File: 'link', Socket: 'socket', CharDevice: '/dev/null' };
  const words = {
    Directory: 'a directory',
    File: 'a file',
    Socket: 'a socket file',
    CharDevice: 'a character device',
    BlockDevice: 'a block device',
  };
  for (const [wanted, what] of Object.entries(words)) {
    for (const [found, name] of Object.entries(paths)) {
      const path = name.startsWith('/') ? name : join(root, name);
      if (found === wanted) assert.deepEqual(await setUp(path, wanted), { hostPath: path, readOnly: false, isHosts: true });
      else await assert.rejects(setUp(path, wanted), { message: `hostPath type check failed: ${path} is not ${what}` });
    }
    await assert.rejects(setUp(join(root, 'none'), wanted), {
      message: `hostPath type check failed: ${join(root, 'none')} is not ${what}`,
    });
  }
  server.close();
});

test('what may be made is made, and what is there is left alone', async () => {
  await setUp(join(root, 'a/b'), 'DirectoryOrCreate');
  assert.ok((await stat(join(root, 'a/b'))).isDirectory());
  await setUp(join(root, 'a/file'), 'FileOrCreate');
  assert.ok((await stat(join(root, 'a/file'))).isFile());
  await setUp(join(root, 'a/file'), 'FileOrCreate');
  await assert.rejects(setUp(join(root, 'a/file'), 'DirectoryOrCreate'), {
    message: `hostPath type check failed: ${join(root, 'a/file')} is not a directory`,
  });
  await assert.rejects(setUp(join(root, 'none/file'), 'FileOrCreate'), { code: 'ENOENT' });
});

test('without a type nothing is asked; what is no type is refused, and so is a way back', async () => {
  await setUp(join(root, 'none'));
  await setUp(join(root, 'none'), '');
  await assert.rejects(setUp(root, 'Folder'), { message: 'Folder is an invalid volume type' });
  await assert.rejects(setUp(`${root}/../x`), { message: `invalid HostPath \`${root}/../x\`: must not contain '..'` });
});

test('a pipe that a container puts in the place of a file that is to be made is not waited for', async () => {
  const path = join(root, 'file');
  /** Does `last` just before the file is made, which is the last call of all. */
  const make = async (name: string, calls: number, last: () => void): Promise<number> => {
    let count = 0;
    await checkHostPath.run({ path: join(root, name), type: 'FileOrCreate' }, (at, call) => {
      if (++count === calls) last();
      return touchDirectly(at, call);
    });
    return count;
  };
  const calls = await make('else', 0, () => {});
  await assert.rejects(
    make('file', calls, () => execFileSync('mkfifo', [path])),
    { code: 'ENXIO' },
  );
  await assert.rejects(setUp(path, 'FileOrCreate'), { message: `hostPath type check failed: ${path} is not a file` });
});

test('a path that a pod makes long, and links that a container makes on it, are followed once', async () => {
  await mkdir(join(root, 'd'));
  await symlink('d/../d/../d', join(root, 'l'));
  const looks = async (parts: number): Promise<number> => {
    let count = 0;
    const path = `${root}${'/l/..'.repeat(15)}/${'none/'.repeat(parts)}file`;
    const look = checkHostPath.run({ path, type: 'FileOrCreate' }, (at, call) => {
      count++;
      return touchDirectly(at, call);
    });
    await assert.rejects(look, { code: 'ENOENT' });
    return count;
  };
  const [few, many] = [await looks(50), await looks(500)];
  assert.ok(many <= few * 2, `${few} calls for 50 parts that are missing, ${many} for 500`);
});

test('a path that is longer than any that the kernel takes is refused without a look', async () => {
  const looks: string[] = [];
  const touch: Touch = (path, call) => {
    looks.push(path);
    return touchDirectly(path, call);
  };
  await assert.rejects(checkHostPath.run({ path: `${root}/${'a/'.repeat(100_000)}`, type: 'DirectoryOrCreate' }, touch), {
    code: 'ENAMETOOLONG',
  });
  assert.deepEqual(looks, []);
});
