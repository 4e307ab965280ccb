import { once } from 'node:events';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

/** Waits until a file of the directory, which another process writes, holds this text and nothing else but white space. */
export async function untilFileHolds(directory: string, name: string, text: string): Promise<void> {
  const holds = async (): Promise<boolean> => (await readFile(join(directory, name), 'utf8').catch(() => '')).trim() === text;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const watcher = watch(directory);
  try {
    for (;;) {
      // Listened for before the look: what comes in between counts.
      const change = once(watcher, 'change', { signal });
      change.catch(() => {});
      if (await holds()) return;
      await change;
    }
  } finally {
    watcher.close();
  }
}
