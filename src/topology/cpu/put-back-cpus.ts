import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupHierarchy } from '../../base/cgroup-hierarchy.ts';
import { parseCgroupPaths } from '../../base/cgroup-paths.ts';
import type { Clock } from '../../base/clock.ts';
import { errorCode, isMissingFile } from '../../base/error-code.ts';
import type { Logger } from '../../base/logger.ts';
import { formatCpuSet, parseCpuSet } from '../../model/cpu-set.ts';
import { type PodUid, aboutPod } from '../../model/pod.ts';
import type { ContainerId, ContainerRuntime } from '../../ports/container-runtime.ts';
import type { NodeParts } from '../../ports/node-parts.ts';
import type { RunningContainer, RunningPods } from '../../ports/running-pods.ts';

export interface PutBackCpusDeps {
  readonly running: RunningPods;
  readonly runtime: Pick<ContainerRuntime, 'updateContainer'>;
  readonly pods: Pick<NodeParts['pods'], 'get'>;
  readonly cgroups: Pick<CgroupHierarchy, 'root' | 'version'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly wake: NodeParts['wake'];
  readonly log: Logger;
  /** Where a container is to run: "0-2,7". */
  readonly cpuset: (uid: PodUid, container: string) => string;
  /** "/proc" */
  readonly proc: string;
  readonly periodMs: number;
}

/**
 * Looks once in each period whether containers are on their CPUs, and puts back those that something else has moved (cpuManagerReconcilePeriod).
 * The first time that a container is found elsewhere there is a look at its pod, which sees what the engine was asked for by others; one that is
 * there the next time was moved behind the engine's back, and the engine is asked again. Rejects with the signal's reason alone.
 */
export async function putBackCpus(deps: PutBackCpusDeps, signal: AbortSignal): Promise<void> {
  const { running, clock, log, periodMs } = deps;
  let strays: ReadonlyMap<ContainerId, string> = new Map();
  for (;;) {
    await clock.sleep(periodMs, signal);
    const found = new Map<ContainerId, string>();
    try {
      for (const { uid, containers } of await running.list(signal))
        for (const container of containers) {
          const stray = await lookAt(deps, uid, container, strays.get(container.id), signal);
          if (stray !== undefined) found.set(container.id, stray);
        }
    } catch (error) {
      signal.throwIfAborted();
      log.warn('cannot see on which CPUs containers are; retrying', { error });
    }
    strays = found;
  }
}

/** Where it is and where it should be, where these differ and the engine was not asked again; undefined: nothing is left to do. */
async function lookAt(
  { running, runtime, pods, cgroups, wake, log, cpuset, proc }: PutBackCpusDeps,
  uid: PodUid,
  container: RunningContainer,
  before: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { id, name } = container;
  const pod = pods.get(uid)?.pod;
  const declared = [...(pod?.spec.initContainers ?? []), ...(pod?.spec.containers ?? [])].find((each) => each.name === name);
  if (!pod || !declared) return undefined;
  const is = await cpusOf(container, cgroups, proc);
  if (is === undefined) running.stale(id);
  const wanted = cpuset(uid, name);
  if (is === undefined || is === wanted) return undefined;
  const stray = `${is} instead of ${wanted}`;
  if (stray !== before) {
    wake(uid, 'resources changed');
    return stray;
  }
  const about = { ...aboutPod(pod), container: name, cpus: wanted, found: is };
  try {
    await runtime.updateContainer(id, pod, declared, { cpuset: wanted }, signal);
    log.warn('container put back on its CPUs: something other than the agent had moved it', about);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    log.warn('container not on its CPUs, and cannot be put back; retrying', { ...about, error });
    return stray;
  }
}

/** As its cgroup says; undefined: its process is gone, or its number is another's by now. */
async function cpusOf(
  { id, pid }: RunningContainer,
  { root, version }: PutBackCpusDeps['cgroups'],
  proc: string,
): Promise<string | undefined> {
  try {
    const text = await readFile(join(proc, String(pid), 'cgroup'), 'utf8');
    // Every engine names a container's cgroup after its id.
    const path = text.includes(id) ? parseCgroupPaths(text).get(version === 2 ? '' : 'cpuset') : undefined;
    if (path === undefined) return undefined;
    const cpus = await readFile(join(root, version === 2 ? '' : 'cpuset', path, 'cpuset.cpus'), 'utf8');
    return formatCpuSet(parseCpuSet(cpus.trim()));
  } catch (error) {
    // The latter where the process ends meanwhile.
    if (isMissingFile(error) || errorCode(error) === 'ESRCH') return undefined;
    throw error;
  }
}
