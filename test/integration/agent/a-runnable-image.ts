import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { testEndpoint, testImage } from '../../builders/docker-under-test.ts';
import { anImageOfTars, tarOf, type BuiltImage } from '../../builders/an-image.ts';

const run = promisify(execFile);

/** The test image's files as a layer, under other names for a registry to serve: with a shell in it. Variants share nothing. */
export async function aRunnableImage(variant = 'plain'): Promise<BuiltImage> {
  const docker = async (...argv: string[]): Promise<Buffer> =>
    (await run('docker', ['--host', testEndpoint, ...argv], { encoding: 'buffer', maxBuffer: 1 << 28 })).stdout;
  const id = String(await docker('create', testImage)).trim();
  try {
    return anImageOfTars([Buffer.concat([withoutEnd(tarOf('variant', Buffer.from(variant))), await docker('export', id)])]);
  } finally {
    await docker('rm', id);
  }
}

/** A tar ends with two empty blocks: without them another can follow. */
const withoutEnd = (tar: Buffer): Buffer => tar.subarray(0, -1024);
