import { hash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { SerialByKey } from '../base/serial-by-key.ts';
import { UNFINISHED, writePrivateFile } from '../base/write-private-file.ts';

/** What manifests said when they were last good, by path. Nothing here rejects: what cannot be kept is missed only by an agent that starts on a broken edit. */
export interface LastGoodManifests {
  /** Undefined when there is nothing. */
  load(path: string): Promise<Uint8Array | undefined>;
  /** Takes the place of what was kept before. */
  keep(path: string, content: Uint8Array): Promise<void>;
  /** The manifest is gone: what comes later under its path is another one. */
  forget(path: string): Promise<void>;
  /** Forgets all but these. */
  retain(paths: readonly string[]): Promise<void>;
  /** Whether something is kept that is of none of these. */
  hasOthers(paths: readonly string[]): Promise<boolean>;
}

const nameOf = (path: string): string => hash('sha256', path);

/** In files of a directory, for their owner alone. */
export function lastGoodManifests(directory: string, log: Logger): LastGoodManifests {
  const serial = new SerialByKey<string>();
  const load = async (path: string): Promise<Buffer | undefined> => {
    try {
      return await readFile(join(directory, nameOf(path)));
    } catch (error) {
      if (!isMissingFile(error)) log.warn('last good state of a manifest not read', { file: path, error });
      return undefined;
    }
  };
  /** Names of files that are about none of these. */
  const others = async (paths: readonly string[]): Promise<readonly string[]> => {
    const wanted = new Set(paths.map(nameOf));
    try {
      // Of one that is being written, both are there.
      return (await readdir(directory)).filter((name) => !wanted.has(basename(name, UNFINISHED)));
    } catch (error) {
      if (isMissingFile(error)) return [];
      throw error;
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
          log.warn('good state of a manifest not kept: an agent that starts on a broken edit will not know its pod', {
            file: path,
            error,
          });
        }
      }),
    forget: (path) =>
      serial.run(path, async () => {
        try {
          await rm(join(directory, nameOf(path)), { force: true });
        } catch (error) {
          if (isMissingFile(error)) return;
          const message =
            'last good state of a removed manifest not removed: an agent that starts on a broken file of that name may bring its pod back';
          log.warn(message, { file: path, error });
        }
      }),
    retain: async (paths) => {
      try {
        for (const name of await others(paths)) await rm(join(directory, name), { force: true });
      } catch (error) {
        log.warn('last good states of removed manifests not removed', { directory, error });
      }
    },
    hasOthers: async (paths) => {
      // What cannot be listed is reported when it is to be removed.
      const found = await others(paths).catch(() => []);
      return found.length > 0;
    },
  };
}
