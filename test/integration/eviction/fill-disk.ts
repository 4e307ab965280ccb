import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { stays } from '../agent/pod-specs.ts';

/** A container's script: into /data, a volume; a file elsewhere lies where the engine has its containers. */
export const writes = (megabytes: number, file = '/data/file'): string =>
  `dd if=/dev/zero of=${file} bs=1M count=${megabytes} 2>/dev/null; ${stays}`;

const run = promisify(execFile);

/**
 * Takes all that is left of the disk that the file is on, an ext4: each call takes what there is before it says that it is not enough. So much
 * at once, and so few calls: an agent frees images meanwhile, and would be robbed of that as well by one that writes until nothing goes.
 */
export async function fillDisk(path: string): Promise<void> {
  const { blocks, bsize } = await statfs(dirname(path));
  let isFull = false;
  let at = 0;
  for (let size = blocks * bsize; size >= bsize; size = Math.floor(size / 256)) {
    await run('fallocate', ['--offset', `${at}`, '--length', `${size}`, path]).catch((error: unknown) => {
      assert.match(String(error), /No space left on device/);
      isFull = true;
    });
    at += size;
  }
  assert.ok(isFull, `${path}: nothing has said that the disk is full`);
}
