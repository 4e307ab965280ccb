import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import { parseCgroupPaths } from '../base/cgroup-paths.ts';
import type { Clock } from '../base/clock.ts';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import type { PodUid } from '../model/pod.ts';
import type { RunningContainer, RunningPods } from '../ports/running-pods.ts';

/** Files of a container's cgroup, and what they are to say: `{ 'memory.oom.group': '1' }`. */
export type CgroupSettings = Readonly<Record<string, string>>;

export interface ContainerMemoryDeps {
  readonly running: RunningPods;
  /** Of version 2. */
  readonly cgroups: Pick<CgroupHierarchy, 'root'>;
  /** Undefined: nothing is known of the container. */
  readonly settings: (uid: PodUid, container: string) => CgroupSettings | undefined;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** "/proc" */
  readonly proc: string;
}

export interface ContainerMemory {
  /** Sets what runs of these pods. Goes on until the engine tells what runs; rejects with the signal's reason alone. */
  set(pods: ReadonlySet<PodUid>, signal: AbortSignal): Promise<void>;
}

const RETRY_MS = 5_000;

/**
 * What no engine call says of a container's memory, which the kubelet has runtimes write ("unified" of the CRI): it is written into the
 * container's cgroup as soon as it runs.
 */
export function containerMemory({ running, cgroups, settings, clock, log, proc }: ContainerMemoryDeps): ContainerMemory {
  /** Undefined: there is no such process (any more) by what is known of the container. */
  const cgroupOf = async ({ id, pid }: RunningContainer): Promise<string | undefined> => {
    try {
      const text = await readFile(join(proc, String(pid), 'cgroup'), 'utf8');
      // Every engine names a container's cgroup after its id: this number may be another process's by now.
      const path = text.includes(id) ? parseCgroupPaths(text).get('') : undefined;
      return path && join(cgroups.root, path);
    } catch {
      return undefined;
    }
  };
  /** Whether it is done with: false where another process is the container's by now. */
  const setOne = async (pod: string, container: RunningContainer, files: CgroupSettings): Promise<boolean> => {
    const cgroup = await cgroupOf(container);
    if (cgroup === undefined) return false;
    for (const [file, value] of Object.entries(files)) {
      try {
        await writeFile(join(cgroup, file), value, { flag: 'r+' });
      } catch (error) {
        if (isMissingFile(error)) return false;
        log.warn('a limit of memory is not set: the cgroup of the container cannot be written', {
          pod,
          container: container.name,
          set: `${file} ${value}`,
          error,
        });
      }
    }
    return true;
  };
  /** Whether all are done with. */
  const setOnce = async (pods: ReadonlySet<PodUid>, signal: AbortSignal): Promise<boolean> => {
    let isDone = true;
    for (const { uid, namespace, name, containers } of await running.list(signal)) {
      if (!pods.has(uid)) continue;
      for (const container of containers) {
        const files = settings(uid, container.name);
        if (files === undefined || (await setOne(`${namespace}/${name}`, container, files))) continue;
        running.stale(container.id);
        isDone = false;
      }
    }
    return isDone;
  };
  return {
    async set(pods, signal) {
      for (;;) {
        signal.throwIfAborted();
        try {
          // What was started again has another process, which a second look finds; what has ended by then needs nothing.
          if (!(await setOnce(pods, signal))) await setOnce(pods, signal);
          return;
        } catch (error) {
          signal.throwIfAborted();
          log.warn('cannot see what runs, to set the limits of its memory; retrying', { error });
          await clock.sleep(RETRY_MS, signal);
        }
      }
    },
  };
}
