import { lstat, mkdir, readdir, readlink, rmdir, stat, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../base/error-code.ts';
import { isServers, leadsToServer } from '../../../base/leads-to-server.ts';
import { type MountPoint, mountsNow } from '../../../base/mount-info.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Pod } from '../../../model/pod.ts';
import { containerLogDirectory, containerLogPath, legacyLogLink, podLogDirectory } from '../../common/logs/log-paths.ts';

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
  /** What led nowhere at the last sweep. */
  #dangling: ReadonlySet<string> = new Set();

  constructor(podLogsDir: string, containerLogsDir: string, log: Logger) {
    this.#podLogsDir = podLogsDir;
    this.#containerLogsDir = containerLogsDir;
    this.#log = log;
  }

  /** To the engine's file. */
  link(of: LoggedContainer, logFile: string): Promise<void> {
    return this.#guarded(of, async () => {
      await mkdir(this.#podLogsDir, { recursive: true });
      const make = async (): Promise<void> => {
        await makeDirectory(podLogDirectory(this.#podLogsDir, of.pod));
        await makeDirectory(containerLogDirectory(this.#podLogsDir, of.pod, of.container));
        await replaceLink(logFile, this.#path(of));
      };
      // A sweep may have taken a directory away that was empty in between.
      await make().catch((error: unknown) => (errorCode(error) === 'ENOENT' ? make() : Promise.reject(error)));
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

  /**
   * Takes away the links of containers that others have removed, and the directories that this leaves empty: what leads nowhere and led nowhere
   * when this was called last, so that a log that is being made or rotated keeps its links (evictPodLogsDirectories in pkg/kubelet/kuberuntime).
   * Ends in the middle when `signal` aborts. Never rejects.
   */
  async sweep(signal: AbortSignal): Promise<void> {
    const dangling = new Set<string>();
    try {
      // Once for all: it is long where many pods run. Most nodes have no mount of a server's.
      const table = mountsNow();
      const servers = table.some(isServers) ? table : [];
      /** Whether it is gone now. */
      const sweepLink = async (path: string): Promise<boolean> => {
        signal.throwIfAborted();
        if (!(await leadsNowhere(path, servers))) return false;
        if (this.#dangling.has(path)) return removeLink(path);
        dangling.add(path);
        return false;
      };
      for (const pod of await list(this.#podLogsDir, 'directories')) {
        let removed = false;
        for (const container of await list(pod, 'directories')) {
          signal.throwIfAborted();
          let emptier = false;
          for (const link of await list(container, 'links')) emptier = (await sweepLink(link)) || emptier;
          if (emptier) await removeIfEmpty(container);
          removed ||= emptier;
        }
        if (removed) await removeIfEmpty(pod);
      }
      for (const link of await list(this.#containerLogsDir, 'links')) {
        signal.throwIfAborted();
        // Other links there are other people's.
        if ((await readlink(link)).startsWith(`${this.#podLogsDir}/`)) await sweepLink(link);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#log.v(3, 'links to lost container logs cannot be removed now', { error });
    }
    this.#dangling = dangling;
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
      this.#log.warn('links to container logs cannot be kept; pods run on without them', {
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

/** Paths of what is in a directory, itself not followed; none where it is gone. */
async function list(directory: string, what: 'directories' | 'links'): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries
      .filter((entry) => (what === 'links' ? entry.isSymbolicLink() : entry.isDirectory()))
      .map(({ name }) => join(directory, name));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** What others have linked to a server, which may never answer, is not looked at. */
async function leadsNowhere(link: string, mounts: readonly MountPoint[]): Promise<boolean> {
  if (mounts.length > 0 && leadsToServer(link, mounts)) return false;
  try {
    await stat(link);
    return false;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true;
    throw error;
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

/** Whether a link was there: files belong to others. */
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
