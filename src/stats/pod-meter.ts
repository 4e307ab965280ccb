import { join } from 'node:path';
import type { CgroupPaths } from '../base/cgroup-paths.ts';
import type { Clock } from '../base/clock.ts';
import { parseTime } from '../model/time.ts';
import type { ContainerUsage, FilesystemStats, NetworkStats, PodUsage, PressureStats } from '../ports/pod-stats.ts';
import type { RunningContainer, RunningPod, RunningPods } from '../ports/running-pods.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import { CgroupMeter, type CgroupTarget, type Consumption, sumOf } from './cgroup-meter.ts';
import { type CgroupReader, textOf } from './cgroup-reader.ts';
import { podCgroupOf } from './cgroup-texts.ts';
import { ContainerCgroups } from './container-cgroups.ts';
import { namedDisks, parseDiskNames } from './disk-texts.ts';
import { partOf } from './file-systems.ts';
import { logUsage } from './log-usage.ts';
import { parseInterfaces } from './proc-texts.ts';
import { type VolumeUsagesDeps, volumeUsages } from './volume-usages.ts';

export interface PodMeterDeps extends VolumeUsagesDeps {
  readonly clock: Clock;
  readonly running: RunningPods;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly reader: CgroupReader;
  /** "/proc" */
  readonly proc: string;
  /** Where the engine keeps images and what containers write. */
  readonly imageDir: () => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** A running container and the cgroup it was found in. */
interface Located {
  readonly container: RunningContainer;
  readonly paths: CgroupPaths | undefined;
}
interface LocatedPod {
  readonly pod: RunningPod;
  readonly sandbox: Located | undefined;
  readonly containers: readonly Located[];
  readonly cgroup: string | undefined;
}

/** What all pods of one measure have in common. */
interface PodSurroundings {
  readonly rootFs: FilesystemStats | undefined;
  readonly imageFs: FilesystemStats | undefined;
  /** Directories that are counted, those found on the way as well. */
  readonly counted: Set<string>;
  readonly diskNames: ReadonlyMap<string, string>;
}

/** What the pods that run use. */
export class PodMeter {
  readonly #deps: PodMeterDeps;
  readonly #cgroups: ContainerCgroups;
  readonly #meter: CgroupMeter;

  constructor(deps: PodMeterDeps) {
    this.#deps = deps;
    this.#cgroups = new ContainerCgroups(deps.proc);
    this.#meter = new CgroupMeter(deps);
  }

  async cpuAndMemory(): Promise<readonly PodUsage[]> {
    const { pods, consumption } = await this.#consumption();
    return pods.map((pod) => this.#basics(pod, consumption));
  }

  async everything(): Promise<readonly PodUsage[]> {
    const { fileSystems, directories, rootDir, imageDir, proc } = this.#deps;
    const { pods, consumption } = await this.#consumption();
    const mountInfo = textOf(join(proc, 'self/mountinfo')) ?? '';
    const images = await imageDir();
    const diskNames = parseDiskNames(textOf(join(proc, 'diskstats')) ?? '');
    const [rootFs, imageFs] = await Promise.all([
      fileSystems.holding(rootDir, () => mountInfo),
      images === undefined ? undefined : fileSystems.holding(images, () => mountInfo),
    ]);
    const counted = new Set<string>();
    const node: PodSurroundings = { rootFs, imageFs, counted, diskNames };
    const usages = await Promise.all(
      pods.map(async (pod) => {
        const basics = this.#basics(pod, consumption);
        const { uid, network } = pod.pod;
        const [containers, sandbox, volumes] = await Promise.all([
          Promise.all(pod.containers.map((at, i) => this.#details(at, basics.containers[i], node))),
          pod.sandbox && this.#details(pod.sandbox, basics.sandbox, node),
          volumeUsages(this.#deps, uid, mountInfo),
        ]);
        const interfaces = network === 'pod' && pod.sandbox ? this.#network(pod.sandbox.container) : undefined;
        for (const { counted: path } of volumes) if (path !== undefined) counted.add(path);
        const own = [
          ...containers.flatMap(({ rootfs, logs }) => [rootfs, logs && { ...logs, inodesUsed: 0 }]),
          ...volumes.filter(({ ephemeral }) => ephemeral).map(({ usage }) => usage),
        ].filter((stats) => stats !== undefined);
        const processes = [...containers, sandbox].reduce((sum, each) => sum + (each?.processes ?? 0), 0);
        const storage = rootFs && ephemeralStorage(rootFs, own);
        const pressure = basics.cgroup === undefined ? undefined : this.#pressure(this.#deps.reader.at(basics.cgroup));
        return {
          ...basics,
          containers,
          ...(sandbox ? { sandbox } : {}),
          ...(interfaces ? { network: interfaces } : {}),
          ...(pressure ? { pressure } : {}),
          volumes: volumes.map(({ usage }) => usage),
          ...(storage ? { ephemeralStorage: storage } : {}),
          processes,
        } satisfies PodUsage;
      }),
    );
    directories.keep(counted);
    return usages;
  }

  /** Where everything is, and what it consumes. */
  async #consumption(): Promise<{ readonly pods: readonly LocatedPod[]; readonly consumption: ReadonlyMap<string, Consumption> }> {
    const { running, reader, signal } = this.#deps;
    const listed = await running.list(signal);
    this.#cgroups.keep(
      new Set(listed.flatMap(({ sandbox, containers }) => [...(sandbox ? [sandbox] : []), ...containers].map(({ id }) => id))),
    );
    const pods = listed.map((pod) => this.#locate(pod));
    const all = pods.flatMap(({ sandbox, containers }) => [...(sandbox ? [sandbox] : []), ...containers]);
    const targets = all.flatMap(({ container: { id: key, startedAtMs }, paths }): CgroupTarget[] =>
      paths ? [{ key, paths, startedAtMs }] : [],
    );
    const podTargets = pods.flatMap(({ cgroup }): CgroupTarget[] =>
      cgroup === undefined ? [] : [{ key: cgroup, paths: reader.at(cgroup) }],
    );
    const consumption = await this.#meter.measure([...targets, ...podTargets]);
    for (const { container, paths } of all) {
      if (paths !== undefined && consumption.get(container.id)?.cpu !== undefined) continue;
      this.#cgroups.forget(container.id);
      running.stale(container.id);
    }
    return { pods, consumption };
  }

  #locate(pod: RunningPod): LocatedPod {
    const at = (container: RunningContainer): Located => ({ container, paths: this.#cgroups.of(container) });
    const sandbox = pod.sandbox && at(pod.sandbox);
    const containers = pod.containers.map(at);
    const any = [...(sandbox ? [sandbox] : []), ...containers].find(({ paths }) => paths !== undefined)?.paths;
    const name = any && this.#deps.reader.nameOf(any);
    return { pod, sandbox, containers, cgroup: name === undefined ? undefined : podCgroupOf(name, pod.uid) };
  }

  #basics({ pod, sandbox, containers, cgroup }: LocatedPod, consumption: ReadonlyMap<string, Consumption>): PodUsage {
    const { statuses, clock } = this.#deps;
    const usageOf = ({ container: { id, name, startedAtMs } }: Located): ContainerUsage => ({
      id,
      name,
      startedAtMs,
      ...consumption.get(id),
    });
    const parts = containers.map(usageOf);
    const pause = sandbox && usageOf(sandbox);
    const own = cgroup === undefined ? undefined : consumption.get(cgroup);
    const { uid, name, namespace } = pod;
    const starts = [...parts, ...(pause ? [pause] : [])].map(({ startedAtMs }) => startedAtMs);
    return {
      uid,
      name,
      namespace,
      startedAtMs: parseTime(statuses.get(uid)?.startTime) ?? Math.min(clock.now(), ...starts),
      containers: parts,
      ...(pause ? { sandbox: pause } : {}),
      ...(own?.cpu ? { ...own, cgroup: cgroup ?? '' } : sumOf([...parts, ...(pause ? [pause] : [])])),
      volumes: [],
    };
  }

  async #details(
    { container, paths }: Located,
    basics: ContainerUsage | undefined,
    { rootFs, imageFs, counted, diskNames }: PodSurroundings,
  ): Promise<ContainerUsage> {
    const { reader, running, directories, clock } = this.#deps;
    const { id, name, startedAtMs, engineName, image, writableLayer, logPath, cpuShares } = container;
    if (writableLayer !== undefined) counted.add(writableLayer);
    const log = logPath === undefined ? undefined : await logUsage(logPath);
    const tasks = paths && reader.tasks(paths);
    const limits = paths && reader.limits(paths, cpuShares);
    // Resized since it was listed.
    if (cpuShares !== undefined && limits?.cpuShares !== undefined && limits.cpuShares !== cpuShares) running.stale(id);
    const pressure = paths && this.#pressure(paths);
    const disks = paths && reader.disks(paths);
    const cgroup = paths && reader.nameOf(paths);
    const rootfs = partOf(imageFs, writableLayer === undefined ? undefined : directories.latest(writableLayer));
    // Of the whole file system's inodes: as the kubelet tells it (pkg/kubelet/stats/helper.go buildLogsStats).
    const logs = rootFs && log ? { ...rootFs, atMs: clock.now(), usedBytes: log.bytes } : partOf(rootFs, undefined);
    return {
      ...(basics ?? { id, name, startedAtMs }),
      engineName,
      image,
      ...tasks,
      ...(limits ? { limits } : {}),
      ...(cgroup === undefined ? {} : { cgroup }),
      ...(pressure ? { pressure } : {}),
      ...(disks ? { disks: namedDisks(disks, diskNames) } : {}),
      ...(rootfs ? { rootfs } : {}),
      ...(logs ? { logs } : {}),
    };
  }

  #pressure(paths: CgroupPaths): PressureStats | undefined {
    const { reader, clock } = this.#deps;
    const pressure = reader.pressure(paths);
    return pressure && { atMs: clock.now(), ...pressure };
  }

  #network({ pid }: RunningContainer): NetworkStats | undefined {
    const { proc, clock } = this.#deps;
    const [dev, route] = ['dev', 'route'].map((file) => textOf(join(proc, String(pid), 'net', file)));
    return dev === undefined ? undefined : { atMs: clock.now(), interfaces: parseInterfaces(dev, route) };
  }
}

/** The node's file system, with what containers, logs and volumes of the pod use of it (pkg/kubelet/stats/helper.go calcEphemeralStorage). */
function ephemeralStorage(rootFs: FilesystemStats, parts: readonly FilesystemStats[]): FilesystemStats {
  const sum = (of: (part: FilesystemStats) => number | undefined): number | undefined => {
    const known = parts.map(of).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0);
  };
  const [bytes, inodes] = [sum(({ usedBytes }) => usedBytes), sum(({ inodesUsed }) => inodesUsed)];
  const { usedBytes: _, inodesUsed: __, ...rest } = rootFs;
  return {
    ...rest,
    atMs: Math.max(rootFs.atMs, ...parts.map(({ atMs }) => atMs)),
    ...(bytes === undefined ? {} : { usedBytes: bytes }),
    ...(inodes === undefined ? {} : { inodesUsed: inodes }),
  };
}
