import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** An empty directory that goes with the test. */
export async function aRootDirectory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rxlet-root-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}
