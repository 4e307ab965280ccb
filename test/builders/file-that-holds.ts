import { once } from 'node:events';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

/** Waits until a file of the directory, which another process writes, holds this text and nothing else but white space. */
export async function untilFileHolds(directory: string, name: string, text: string): Promise<void> {
  let found = '';
  const holds = async (): Promise<boolean> => {
    found = (await readFile(join(directory, name), 'utf8').catch(() => '')).trim();
    return found === text;
  };
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
  } catch (cause) {
    throw new Error(`waited ${PATIENCE_MS / 1000} s for ${name} to hold ${text.slice(0, 200)}: it holds ${found.slice(0, 200)}`, { cause });
  } finally {
    watcher.close();
  }
}
