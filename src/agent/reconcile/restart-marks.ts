import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../../base/error-code.ts';
import type { Logger } from '../../base/logger.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { writePrivateFile } from '../../base/write-private-file.ts';
import { podDirectory } from '../../model/pod-directory.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerId } from '../../ports/container-runtime.ts';
import type { RestartMarks } from '../../ports/restart-marks.ts';

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
        await makeDirectory(directory, 0o750);
        await writePrivateFile(join(directory, FILE), id);
      } catch (error) {
        log.warn('restart mark of a container not saved', { uid, container, error });
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
        if (!isMissingFile(error)) log.warn('restart marks of containers not read', { uid, error });
      }
      return marks;
    },
  };
}
