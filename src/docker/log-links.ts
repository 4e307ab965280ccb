import { lstat, mkdir, rmdir, symlink, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import type { Pod } from '../model/pod.ts';
import { containerLogDirectory, containerLogPath, legacyLogLink, podLogDirectory } from './log-paths.ts';

/** Which container's links: all that their paths are made of. */
export interface LoggedContainer {
  readonly pod: Pick<Pod, 'metadata'>;
  readonly container: string;
  readonly attempt: number;
  readonly id: string;
}

/**
 * The links by which kubectl logs and log collectors find what a container wrote:
 * PODS/NS_NAME_UID/CONTAINER/ATTEMPT.log → the engine's file, and CONTAINERS/POD_NS_CONTAINER-ID.log → the former.
 * Logs are a convenience: no method rejects, trouble is warned of once, and nothing outside the two directories is ever touched.
 */
export class LogLinks {
  readonly #podLogsDir: string;
  readonly #containerLogsDir: string;
  readonly #log: Logger;
  #warned = false;

  constructor(podLogsDir: string, containerLogsDir: string, log: Logger) {
    this.#podLogsDir = podLogsDir;
    this.#containerLogsDir = containerLogsDir;
    this.#log = log;
  }

  /** To the engine's file. */
  link(of: LoggedContainer, logFile: string): Promise<void> {
    return this.#guarded(of, async () => {
      await mkdir(this.#podLogsDir, { recursive: true });
      await makeDirectory(podLogDirectory(this.#podLogsDir, of.pod));
      await makeDirectory(containerLogDirectory(this.#podLogsDir, of.pod, of.container));
      await replaceLink(logFile, this.#path(of));
    });
  }

  /** For older log collectors: only for a container that has started. */
  linkLegacy(of: LoggedContainer): Promise<void> {
    return this.#guarded(of, async () => {
      await mkdir(this.#containerLogsDir, { recursive: true });
      await replaceLink(this.#path(of), legacyLogLink(this.#containerLogsDir, of.pod, of.container, of.id));
    });
  }

  /** Takes both links away, and the directories that this leaves empty. */
  unlink(of: LoggedContainer): Promise<void> {
    return this.#guarded(of, async () => {
      await removeLink(legacyLogLink(this.#containerLogsDir, of.pod, of.container, of.id));
      const directory = containerLogDirectory(this.#podLogsDir, of.pod, of.container);
      if (!(await isDirectory(dirname(directory)))) return;
      // An agent that was killed may have left one directory without the other.
      if (await isDirectory(directory)) {
        await removeLink(this.#path(of));
        await removeIfEmpty(directory);
      }
      await removeIfEmpty(dirname(directory));
    });
  }

  #path({ pod, container, attempt }: LoggedContainer): string {
    return containerLogPath(this.#podLogsDir, pod, container, attempt);
  }

  async #guarded({ pod: { metadata }, container, id }: LoggedContainer, work: () => Promise<void>): Promise<void> {
    try {
      // Uids and names of pods that no door has checked may say anything.
      for (const part of [metadata.namespace, metadata.name, metadata.uid, container, id]) {
        if (/[/\0]/.test(part) || part === '' || part === '.' || part === '..') {
          throw new Error(`${JSON.stringify(part)} is no part of a file name`);
        }
      }
      await work();
    } catch (error) {
      if (this.#warned) return;
      this.#warned = true;
      this.#log.warn('cannot keep links to container logs; pods run on without them', {
        podLogsDir: this.#podLogsDir,
        containerLogsDir: this.#containerLogsDir,
        error,
      });
    }
  }
}

async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, 0o755);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (!(await isDirectory(path))) throw new Error(`${path} is no directory`, { cause: error });
  }
}

/** A symbolic link to one is none: it may lead elsewhere. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function replaceLink(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    if (!(await removeLink(path))) throw new Error(`${path} is in the way`, { cause: error });
    await symlink(target, path);
  }
}

/** Whether a link was there: files are somebody else's. */
async function removeLink(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return false;
    await unlink(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
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
