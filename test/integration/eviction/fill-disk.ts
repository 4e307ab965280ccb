import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../../../src/base/error-code.ts';
import { stays } from '../agent/pod-specs.ts';

/** A container's script: into /data, a volume; a file elsewhere lies where the engine has its containers. */
export const writes = (megabytes: number, file = '/data/file'): string =>
  `dd if=/dev/zero of=${file} bs=1M count=${megabytes} 2>/dev/null; ${stays}`;

const run = promisify(execFile);
const REST_BYTES = 2 ** 20;

/**
 * Until not one byte is left of the disk that the file is on. Nearly all of it is taken at once: an agent that frees images while the rest is
 * written would see them filled, too, and evict a pod.
 */
export async function fillDisk(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path));
  await run('fallocate', ['--length', `${Math.max(1, bavail * bsize - REST_BYTES)}`, path]);
  await using file = await open(path, 'a');
  for (const size of [4096, 1]) {
    try {
      for (;;) await file.write(Buffer.alloc(size));
    } catch (error) {
      assert.equal(errorCode(error), 'ENOSPC');
    }
  }
}
