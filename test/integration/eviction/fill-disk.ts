import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { errorCode } from '../../../src/base/error-code.ts';
import { stays } from '../agent/pod-specs.ts';

/** A container's script: into /data, a volume; a file elsewhere lies where the engine has its containers. */
export const writes = (megabytes: number, file = '/data/file'): string =>
  `dd if=/dev/zero of=${file} bs=1M count=${megabytes} 2>/dev/null; ${stays}`;

/** Until not one byte is left of the disk that the file is on. */
export async function fillDisk(path: string): Promise<void> {
  await using file = await open(path, 'w');
  for (const size of [2 ** 20, 4096, 1]) {
    try {
      for (;;) await file.write(Buffer.alloc(size));
    } catch (error) {
      assert.equal(errorCode(error), 'ENOSPC');
    }
  }
}
