import { hash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { writePrivateFile } from '../base/write-private-file.ts';

/** What manifests said when they were last good, by path. Nothing here rejects: what cannot be kept is missed only by an agent that starts on a broken edit. */
export interface LastGoodManifests {
  /** Undefined when there is nothing. */
  load(path: string): Promise<Uint8Array | undefined>;
  /** Takes the place of what was kept before. */
  keep(path: string, content: Uint8Array): Promise<void>;
  /** Forgets all but these. */
  retain(paths: readonly string[]): Promise<void>;
}

const nameOf = (path: string): string => hash('sha256', path);

/** In files of a directory, for their owner alone. */
export function lastGoodManifests(directory: string, log: Logger): LastGoodManifests {
  const serial = new SerialByKey<string>();
  const load = async (path: string): Promise<Buffer | undefined> => {
    try {
      return await readFile(join(directory, nameOf(path)));
    } catch (error) {
      if (!isMissingFile(error)) log.warn('the last good state of a manifest cannot be read', { file: path, error });
      return undefined;
    }
  };
  return {
    load,
    keep: (path, content) =>
      serial.run(path, async () => {
        try {
          // Most often an agent starts on what is kept already.
          if ((await load(path))?.equals(content)) return;
          await writePrivateFile(join(directory, nameOf(path)), content);
        } catch (error) {
          log.warn('the good state of a manifest cannot be kept: an agent that starts on a broken edit will not know its pod', {
            file: path,
            error,
          });
        }
      }),
    retain: async (paths) => {
      const wanted = new Set(paths.map(nameOf));
      try {
        for (const name of await readdir(directory)) if (!wanted.has(name)) await rm(join(directory, name), { force: true });
      } catch (error) {
        if (!isMissingFile(error)) log.warn('last good states of manifests that are gone cannot be removed', { directory, error });
      }
    },
  };
}
