import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface SmallFileSystem {
  readonly path: string;
}

/** An ext4 of its own, kept in a file, of which root has no more than others. It goes with the test; `at`: where it is mounted. */
export async function smallFileSystem(
  test: { after(dispose: () => Promise<void>): void },
  megabytes: number,
  at?: string,
): Promise<SmallFileSystem> {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-disk-'));
  const [image, path] = [join(directory, 'image'), at ?? join(directory, 'disk')];
  await writeFile(image, '');
  await truncate(image, megabytes * 2 ** 20);
  await run('mkfs.ext4', ['-q', '-m', '0', '-N', '4096', image]);
  await mkdir(path, { recursive: true });
  await run('mount', ['-o', 'loop', image, path]);
  test.after(async () => {
    await run('umount', ['--recursive', '--lazy', path]);
    await rm(directory, { recursive: true });
  });
  return { path };
}
