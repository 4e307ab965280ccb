import { execFile } from 'node:child_process';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testEndpoint, testImage } from '../../builders/docker-under-test.ts';
import { anImageOfTars, tarOf, type BuiltImage } from '../../builders/an-image.ts';
import { criEndpoint, engineOfTests } from '../../builders/engine-of-tests.ts';

/** The test image's files as a layer, under other names for a registry to serve: with a shell in it. Variants share nothing. */
export async function aRunnableImage(variant = 'plain', config: Readonly<Record<string, unknown>> = {}): Promise<BuiltImage> {
  const files = await (engineOfTests === 'cri' ? filesByContainerd() : filesByDocker());
  return anImageOfTars([Buffer.concat([withoutEnd(tarOf('variant', Buffer.from(variant))), files])], config);
}

const run = async (program: string, ...argv: readonly string[]): Promise<Buffer> =>
  (await promisify(execFile)(program, argv, { encoding: 'buffer', maxBuffer: 1 << 28 })).stdout;

async function filesByDocker(): Promise<Buffer> {
  const docker = (...argv: readonly string[]): Promise<Buffer> => run('docker', '--host', testEndpoint, ...argv);
  const id = String(await docker('create', testImage)).trim();
  try {
    return await docker('export', id);
  } finally {
    await docker('rm', id);
  }
}

async function filesByContainerd(): Promise<Buffer> {
  const images = (...argv: readonly string[]): Promise<Buffer> =>
    run('ctr', '--address', criEndpoint().slice('unix://'.length), '--namespace', 'k8s.io', 'images', ...argv);
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-image-'));
  try {
    await images('mount', `docker.io/library/${testImage}`, directory);
    try {
      return await run('tar', '--create', '--directory', directory, '.');
    } finally {
      await images('unmount', '--rm', directory);
    }
  } finally {
    await rmdir(directory);
  }
}

/** A tar ends with two empty blocks: without them another can follow. */
const withoutEnd = (tar: Buffer): Buffer => tar.subarray(0, -1024);
