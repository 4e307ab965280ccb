import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import { podDirectory } from '../model/pod-directory.ts';
import type { PodUid } from '../model/pod.ts';
import type { ContainerId } from '../ports/container-runtime.ts';

export interface RestartMarks {
  /** This instance is about to be stopped, to be started again. Never rejects. */
  mark(uid: PodUid, container: string, id: ContainerId): Promise<void>;
  /** The last instance of each container that was marked. Never rejects. */
  load(uid: PodUid): Promise<ReadonlyMap<string, ContainerId>>;
}

/** One file a container, which goes with the pod's directory. */
const FILE = 'restarting';

/**
 * Which containers were stopped to be started again, kept on disk: when the agent is killed in between, the one after it does not take a
 * container that heeded its SIGTERM, and ended with 0, for one that has done its work.
 */
export function restartMarks(rootDir: string, log: Logger): RestartMarks {
  const directoryOf = (uid: PodUid): string => join(podDirectory(rootDir, uid), 'containers');
  return {
    async mark(uid, container, id) {
      try {
        const directory = join(directoryOf(uid), container);
        await mkdir(directory, { recursive: true, mode: 0o750 });
        await writeFile(join(directory, FILE), id, { mode: 0o600 });
      } catch (error) {
        log.warn('cannot note that a container is to be started again', { uid, container, error });
      }
    },
    async load(uid) {
      const marks = new Map<string, ContainerId>();
      try {
        for (const container of await readdir(directoryOf(uid))) {
          const id = await readFile(join(directoryOf(uid), container, FILE), 'utf8').catch(() => '');
          if (id !== '') marks.set(container, id as ContainerId);
        }
      } catch (error) {
        if (!isMissingFile(error)) log.warn('cannot tell which containers were to be started again', { uid, error });
      }
      return marks;
    },
  };
}
