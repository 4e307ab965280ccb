import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What a container's log and its rotated files take on disk, in bytes; undefined when there is none. */
export async function logUsage(logPath: string): Promise<{ readonly bytes: number } | undefined> {
  const [directory, name] = [dirname(logPath), basename(logPath)];
  const entries = await readdir(directory).catch(() => []);
  const logs = entries.filter((entry) => entry === name || entry.startsWith(`${name}.`));
  if (logs.length === 0) return undefined;
  const sizes = await Promise.all(
    logs.map((log) =>
      lstat(join(directory, log)).then(
        ({ blocks }) => blocks * 512,
        () => 0,
      ),
    ),
  );
  return { bytes: sizes.reduce((a, b) => a + b, 0) };
}
