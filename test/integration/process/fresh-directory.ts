import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory, which goes with the test. */
export async function freshDirectory(test: { after(dispose: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rxlet-process-'));
  test.after(() => rm(path, { recursive: true, force: true }));
  return path;
}
