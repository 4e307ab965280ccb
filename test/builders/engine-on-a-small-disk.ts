import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type SmallFileSystem, smallFileSystem } from './small-file-system.ts';

const run = promisify(execFile);
const script = resolve(import.meta.dirname, '../../hack/docker.sh');

export interface EngineOnASmallDisk {
  readonly endpoint: string;
  readonly disk: SmallFileSystem;
  /** What its client prints. */
  readonly docker: (...args: readonly string[]) => Promise<string>;
  /** An image that nothing uses, with one file of so many MiB. */
  readonly addImage: (name: string, megabytes: number) => Promise<void>;
  /** The names of its images. */
  readonly images: () => Promise<readonly string[]>;
}

/** A Docker Engine whose images and containers lie on a file system of their own; its sockets and its state do not. It goes with the test. */
export async function engineOnASmallDisk(
  test: { after(dispose: () => Promise<void>): void },
  megabytes: number,
): Promise<EngineOnASmallDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-engine-'));
  const stack = new AsyncDisposableStack();
  test.after(() => stack.disposeAsync());
  const after = (dispose: () => Promise<unknown>): void => stack.defer(async () => void (await dispose()));
  after(() => run(script, ['down', directory]));
  const disk = await smallFileSystem({ after }, megabytes, join(directory, 'data'));
  after(() => run(script, ['stop', directory]));
  const endpoint = (await run(script, ['up', directory])).stdout.trim();
  const docker = async (...args: readonly string[]): Promise<string> => (await run('docker', ['--host', endpoint, ...args])).stdout.trim();
  return {
    endpoint,
    disk,
    docker,
    addImage: async (name, size) => {
      const [file, archive] = [join(directory, 'content'), join(directory, 'image.tar')];
      await writeFile(file, Buffer.alloc(size * 2 ** 20));
      await run('tar', ['-C', directory, '-cf', archive, 'content']);
      await docker('import', archive, name);
      await run('rm', [file, archive]);
    },
    images: async () => (await docker('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n').toSorted(),
  };
}
