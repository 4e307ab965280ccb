import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupHierarchy } from '../base/cgroup-hierarchy.ts';
import { parseCgroupPaths } from '../base/cgroup-paths.ts';
import type { Clock } from '../base/clock.ts';
import { isMissingFile } from '../base/error-code.ts';
import type { Logger } from '../base/logger.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import type { RunningContainer, RunningPods } from '../ports/running-pods.ts';

export interface GroupedKillsDeps {
  readonly running: RunningPods;
  /** Of version 2. */
  readonly cgroups: Pick<CgroupHierarchy, 'root'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
  /** "/proc" */
  readonly proc: string;
}

export interface GroupedKills {
  /** Sets what runs and is not set yet. Goes on until the engine tells what runs; rejects with the signal's reason alone. */
  setAll(signal: AbortSignal): Promise<void>;
}

const RETRY_MS = 5_000;

/**
 * Has the kernel kill all processes of a container where its memory runs out, instead of one, as the kubelet asks runtimes to (memory.oom.group).
 * No engine call does that, so it is written into the container's cgroup as soon as it runs.
 */
export function groupedKills({ running, cgroups, clock, log, proc }: GroupedKillsDeps): GroupedKills {
  let done: ReadonlySet<ContainerId> = new Set();
  /** False: there is no such process (any more) by what is known of the container. */
  const set = async ({ id, pid }: RunningContainer): Promise<boolean> => {
    const text = await readFile(join(proc, String(pid), 'cgroup'), 'utf8');
    // Every engine names a container's cgroup after its id: this number may be another process's by now.
    const path = text.includes(id) ? parseCgroupPaths(text).get('') : undefined;
    if (path === undefined) return false;
    await writeFile(join(cgroups.root, path, 'memory.oom.group'), '1', { flag: 'r+' });
    return true;
  };
  const setOrSay = async (container: RunningContainer, pod: string): Promise<boolean> => {
    const { id, name } = container;
    try {
      if (await set(container)) return true;
    } catch (error) {
      if (!isMissingFile(error)) {
        log.warn('where memory runs out, one process of the container will be killed, not all: its cgroup cannot be written', {
          pod,
          container: name,
          error,
        });
        return true;
      }
    }
    running.stale(id);
    return false;
  };
  const setOnce = async (signal: AbortSignal): Promise<void> => {
    const now = new Set<ContainerId>();
    for (const { namespace, name, containers } of await running.list(signal))
      for (const container of containers)
        if (done.has(container.id) || (await setOrSay(container, `${namespace}/${name}`))) now.add(container.id);
    done = now;
  };
  return {
    async setAll(signal) {
      for (;;) {
        signal.throwIfAborted();
        try {
          return await setOnce(signal);
        } catch (error) {
          signal.throwIfAborted();
          log.warn('cannot see what runs, so that all processes of a container are killed where memory runs out; retrying', { error });
          await clock.sleep(RETRY_MS, signal);
        }
      }
    },
  };
}
