import { mkdir, readdir, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../base/error-code.ts';
import type { Logger } from '../../../base/logger.ts';
import { logsOf } from '../../../model/log-rotation.ts';
import type { Pod } from '../../../model/pod.ts';
import { containerLogDirectory, containerLogPath, legacyLogLink, podLogDirectory } from '../../common/logs/log-paths.ts';

/** Which container's log: all that its paths are made of. */
export interface LogOwner {
  readonly pod: Pick<Pod, 'metadata'>;
  readonly container: string;
  readonly attempt: number;
}

/**
 * The directories in which a runtime writes logs, as the kubelet makes them: PODS/NS_NAME_UID/CONTAINER/ATTEMPT.log, and the links to them
 * CONTAINERS/POD_NS_CONTAINER-ID.log. Nothing outside these directories is ever touched.
 */
export class LogDirectories {
  readonly #podLogsDir: string;
  readonly #containerLogsDir: string;
  readonly #log: Logger;
  #warned = false;

  constructor(podLogsDir: string, containerLogsDir: string, log: Logger) {
    this.#podLogsDir = podLogsDir;
    this.#containerLogsDir = containerLogsDir;
    this.#log = log;
  }

  /** The directory of a pod, for the runtime. Rejects where it cannot be made: the runtime would make no container without. */
  async makeForPod(pod: LogOwner['pod']): Promise<string> {
    const directory = podLogDirectory(this.#podLogsDir, checked(pod));
    await mkdir(directory, { recursive: true, mode: 0o755 });
    return directory;
  }

  /** The directory in which a container's log will be. */
  async makeForContainer(pod: LogOwner['pod'], container: string): Promise<void> {
    await mkdir(containerLogDirectory(this.#podLogsDir, checked(pod), part(container)), { recursive: true, mode: 0o755 });
  }

  /** The link of a container that has started. Never rejects: who looks there can look elsewhere. */
  async link({ pod, container, attempt }: LogOwner, id: string): Promise<void> {
    await this.#convenience(async () => {
      await mkdir(this.#containerLogsDir, { recursive: true });
      const path = legacyLogLink(this.#containerLogsDir, checked(pod), part(container), part(id));
      const target = containerLogPath(this.#podLogsDir, pod, container, attempt);
      await symlink(target, path).catch(async (error: unknown) => {
        if (errorCode(error) !== 'EEXIST') throw error;
        await unlink(path);
        await symlink(target, path);
      });
    });
  }

  /** A container was removed: its log goes with all that was rotated of it, its link, and the directories that this leaves empty. Never rejects. */
  async remove({ pod, container, attempt }: LogOwner, id: string): Promise<void> {
    await this.#convenience(async () => {
      await rm(legacyLogLink(this.#containerLogsDir, checked(pod), part(container), part(id)), { force: true });
      const log = `${attempt}.log`;
      const directory = containerLogDirectory(this.#podLogsDir, pod, container);
      for (const name of logsOf(log, await names(directory))) await rm(join(directory, name), { force: true });
      await removeIfEmpty(directory);
      await removeIfEmpty(dirname(directory));
    });
  }

  /** The last sandbox of a pod was removed: what is left of its logs goes. Never rejects. */
  async removeOfPod(pod: LogOwner['pod']): Promise<void> {
    await this.#convenience(() => rm(podLogDirectory(this.#podLogsDir, checked(pod)), { recursive: true, force: true }));
  }

  async #convenience(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#warned) return;
      this.#warned = true;
      const { podLogsDir, containerLogsDir } = { podLogsDir: this.#podLogsDir, containerLogsDir: this.#containerLogsDir };
      this.#log.warn('container logs cannot be kept in order; pods run on', { podLogsDir, containerLogsDir, error });
    }
  }
}

function checked(pod: LogOwner['pod']): LogOwner['pod'] {
  const { namespace, name, uid } = pod.metadata;
  for (const each of [namespace, name, uid]) part(each);
  return pod;
}

/** Uids and names of pods that no door has checked may say anything. */
function part(name: string): string {
  if (/[/\0]/.test(name) || name === '' || name === '.' || name === '..')
    throw new Error(`${JSON.stringify(name)} is no part of a file name`);
  return name;
}

/** None where the directory is gone. */
async function names(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function removeIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(String(errorCode(error)))) throw error;
  }
}
