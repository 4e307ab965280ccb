import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { parseMemInfo } from '../base/mem-info.ts';
import type { ContainerId } from '../ports/container-runtime.ts';
import type { ContainerUsage, CpuStats, FilesystemStats, MemoryStats, NodeUsage, PodUsage } from '../ports/pod-stats.ts';
import { CgroupMeter, type Consumption, sumOf } from './cgroup-meter.ts';
import { type CgroupReader, pressureOf, textOf } from './cgroup-reader.ts';
import { parseCounters, parseNumber, workingSet } from './cgroup-texts.ts';
import { CpuRates } from './cpu-rates.ts';
import { namedDisks, parseDiskNames } from './disk-texts.ts';
import type { FileSystems } from './file-systems.ts';
import { parseBootTime, parseInterfaces, parseMachineCpu, parseProcessStat, parseThreads } from './proc-texts.ts';

export interface NodeMeterDeps {
  readonly clock: Clock;
  readonly reader: CgroupReader;
  /** "/proc" */
  readonly proc: string;
  readonly rootDir: string;
  readonly imageDir: () => Promise<string | undefined>;
  /** What the engine's images take. Bytes. */
  readonly imageBytes: () => Promise<number | undefined>;
  readonly fileSystems: FileSystems;
  /** As PodStatsDeps. */
  readonly podsCgroup: () => string | undefined;
  /** As PodStatsDeps. */
  readonly daemonCgroups: DaemonCgroups;
  /** Where the engine's daemon writes its process id. */
  readonly runtimePidFile: string;
  readonly pods: () => Promise<readonly PodUsage[]>;
  readonly signal: AbortSignal;
}

export type DaemonCgroups = Readonly<Partial<Record<'kubelet' | 'runtime' | 'misc', string>>>;

const ROOT = '/';

/** What the machine, and what runs it, uses. */
export class NodeMeter {
  readonly #deps: NodeMeterDeps;
  readonly #meter: CgroupMeter;
  readonly #rates = new CpuRates();

  constructor(deps: NodeMeterDeps) {
    this.#deps = deps;
    this.#meter = new CgroupMeter(deps);
  }

  async cpuAndMemory(): Promise<NodeUsage> {
    const { reader, daemonCgroups } = this.#deps;
    const podsCgroup = this.#deps.podsCgroup();
    const daemons = Object.values(daemonCgroups).filter((path) => path !== '');
    const all = new Set([ROOT, ...(podsCgroup === undefined ? [] : [podsCgroup]), ...daemons]);
    const consumption = await this.#meter.measure(Array.from(all, (path) => ({ key: path, paths: reader.at(path) })));
    const stat = this.#text('stat') ?? '';
    const root = consumption.get(ROOT);
    const memory = this.#memory(root?.memory);
    const cpu = root?.cpu ?? this.#machineCpu(stat);
    const startedAtMs = parseBootTime(stat) ?? 0;
    const systemContainers = await this.#systemContainers(startedAtMs, consumption);
    const swap = this.#swap();
    return { startedAtMs, ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}), ...(swap ? { swap } : {}), systemContainers };
  }

  /** What the node may run short of: memory, file systems, processes. It is looked at again and again: nothing else is read. */
  async signals(): Promise<NodeUsage> {
    const { clock, reader, rootDir, imageDir } = this.#deps;
    const memoryOf = (path: string): MemoryStats | undefined => {
      const use = reader.memory(reader.at(path));
      return use && { atMs: clock.now(), ...use };
    };
    const podsCgroup = this.#deps.podsCgroup();
    const ofPods = podsCgroup === undefined ? undefined : memoryOf(podsCgroup);
    const memory = this.#memory(memoryOf(ROOT));
    const [fs, imageFs] = await this.#fileSystems(rootDir, await imageDir());
    const pids = this.#pids();
    return {
      startedAtMs: 0,
      ...(memory ? { memory } : {}),
      ...(fs ? { fs } : {}),
      ...(imageFs ? { imageFs } : {}),
      ...(pids ? { pids } : {}),
      systemContainers: [{ id: 'pods' as ContainerId, name: 'pods', startedAtMs: 0, ...(ofPods ? { memory: ofPods } : {}) }],
    };
  }

  async everything(): Promise<NodeUsage> {
    const { clock, reader, rootDir, imageDir, imageBytes } = this.#deps;
    const [basics, images] = await Promise.all([this.cpuAndMemory(), imageDir()]);
    const dev = this.#text('self/net/dev');
    const [[fs, imageFs], used] = await Promise.all([this.#fileSystems(rootDir, images), imageBytes()]);
    const pids = this.#pids();
    const imageStats: FilesystemStats | undefined = imageFs && { ...imageFs, ...(used === undefined ? {} : { usedBytes: used }) };
    const pressure = pressureOf((name) => this.#text(`pressure/${name}`));
    const disks = reader.disks(reader.at(ROOT));
    return {
      ...basics,
      ...(pressure ? { pressure: { atMs: clock.now(), ...pressure } } : {}),
      ...(disks ? { disks: namedDisks(disks, parseDiskNames(this.#text('diskstats') ?? '')) } : {}),
      ...(dev === undefined ? {} : { network: { atMs: clock.now(), interfaces: parseInterfaces(dev, this.#text('self/net/route')) } }),
      ...(fs ? { fs } : {}),
      ...(imageStats ? { imageFs: imageStats } : {}),
      ...(pids ? { pids } : {}),
    };
  }

  /** A few files of /proc. */
  async machine(): Promise<NodeUsage> {
    const { clock, fileSystems, rootDir } = this.#deps;
    const stat = this.#text('stat') ?? '';
    const usageCoreNanoSeconds = parseMachineCpu(stat);
    const memory = this.#memory(undefined);
    const pressure = pressureOf((name) => this.#text(`pressure/${name}`));
    const fs = await fileSystems.holding(rootDir, () => this.#text('self/mountinfo') ?? '');
    return {
      startedAtMs: parseBootTime(stat) ?? 0,
      ...(usageCoreNanoSeconds === undefined ? {} : { cpu: { atMs: clock.now(), usageCoreNanoSeconds } }),
      ...(memory ? { memory } : {}),
      ...(pressure ? { pressure: { atMs: clock.now(), ...pressure } } : {}),
      ...(fs ? { fs } : {}),
      systemContainers: [],
    };
  }

  #fileSystems(rootDir: string, images: string | undefined): Promise<readonly (FilesystemStats | undefined)[]> {
    const { fileSystems } = this.#deps;
    const mountInfo = (): string => this.#text('self/mountinfo') ?? '';
    return Promise.all([rootDir, images].map(async (path) => (path === undefined ? undefined : fileSystems.holding(path, mountInfo))));
  }

  #pids(): NodeUsage['pids'] {
    const max = Math.min(
      ...['pid_max', 'threads-max'].map((name) => parseNumber(this.#text(`sys/kernel/${name}`)) ?? Number.POSITIVE_INFINITY),
    );
    const running = parseThreads(this.#text('loadavg') ?? '');
    return running === undefined || !Number.isFinite(max) ? undefined : { atMs: this.#deps.clock.now(), max, running };
  }

  #text(path: string): string | undefined {
    return textOf(join(this.#deps.proc, path));
  }

  /** The root cgroup has no limit: the machine's memory is it. Where the root counts no memory (version 2), the machine's own count stands for it. */
  #memory(root: MemoryStats | undefined): MemoryStats | undefined {
    const memInfo = parseMemInfo(this.#text('meminfo') ?? '');
    const total = memInfo.get('MemTotal');
    if (total === undefined) return root;
    if (root) return { ...root, availableBytes: Math.max(0, total - root.workingSetBytes) };
    const usageBytes = total - (memInfo.get('MemFree') ?? 0);
    const counters = parseCounters(this.#text('vmstat') ?? '');
    return {
      atMs: this.#deps.clock.now(),
      usageBytes,
      ...workingSet(usageBytes, memInfo.get('Inactive(file)') ?? 0, total),
      rssBytes: memInfo.get('AnonPages') ?? 0,
      pageFaults: counters.get('pgfault') ?? 0,
      majorPageFaults: counters.get('pgmajfault') ?? 0,
      cacheBytes: memInfo.get('Cached') ?? 0,
    };
  }

  #swap(): NodeUsage['swap'] {
    const memInfo = parseMemInfo(this.#text('meminfo') ?? '');
    const [total, availableBytes] = [memInfo.get('SwapTotal'), memInfo.get('SwapFree')];
    // Numbers that cannot be are not shown: the API's are whole and of 64 bits.
    if (!Number.isSafeInteger(total) || availableBytes === undefined || availableBytes > (total ?? 0)) return undefined;
    return { atMs: this.#deps.clock.now(), usedBytes: (total ?? 0) - availableBytes, availableBytes };
  }

  #machineCpu(stat: string): CpuStats | undefined {
    const usageCoreNanoSeconds = parseMachineCpu(stat);
    return usageCoreNanoSeconds === undefined ? undefined : this.#rated(ROOT, usageCoreNanoSeconds);
  }

  #rated(key: string, usageCoreNanoSeconds: number, startedAtMs?: number): CpuStats {
    const { clock } = this.#deps;
    const atMs = clock.now();
    const ageMs = startedAtMs === undefined ? undefined : atMs - startedAtMs;
    const usageNanoCores = this.#rates.rate(key, { atMs: clock.monotonicMs(), usageCoreNanoSeconds }, ageMs);
    return { atMs, usageCoreNanoSeconds, ...(usageNanoCores === undefined ? {} : { usageNanoCores }) };
  }

  /** By their cgroups, where these are known and there; else by their processes, which what they start does not count to. */
  async #systemContainers(bootedAtMs: number, consumption: ReadonlyMap<string, Consumption>): Promise<ContainerUsage[]> {
    const { runtimePidFile, daemonCgroups, pods } = this.#deps;
    const inCgroup = (name: string, path: string | undefined): ContainerUsage | undefined => {
      const use = path === undefined ? undefined : consumption.get(path);
      return use?.cpu && { id: name as ContainerId, name, startedAtMs: bootedAtMs, ...use };
    };
    const runtimePid = parseNumber(textOf(runtimePidFile));
    const kubelet = inCgroup('kubelet', daemonCgroups.kubelet) ?? this.#process('kubelet', 'self', bootedAtMs);
    // A file that was left behind names no process, or another one.
    const runtime =
      inCgroup('runtime', daemonCgroups.runtime) ??
      (runtimePid === undefined ? undefined : this.#process('runtime', String(runtimePid), bootedAtMs, /^(dockerd|docker|podman)/));
    const misc = inCgroup('misc', daemonCgroups.misc);
    const everyPod = inCgroup('pods', this.#deps.podsCgroup()) ?? {
      id: 'pods' as ContainerId,
      name: 'pods',
      startedAtMs: bootedAtMs,
      ...sumOf(await pods()),
    };
    return [kubelet, runtime, misc, everyPod].filter((container) => container !== undefined);
  }

  #process(name: string, pid: string, bootedAtMs: number, called?: RegExp): ContainerUsage | undefined {
    const use = parseProcessStat(this.#text(`${pid}/stat`) ?? '');
    if (use === undefined || (called !== undefined && !called.test(use.name))) return undefined;
    const sizes = parseMemInfo((this.#text(`${pid}/status`) ?? '').replaceAll('\t', ' '));
    const resident = sizes.get('VmRSS') ?? 0;
    const startedAtMs = bootedAtMs + use.startedAfterMs;
    return {
      id: name as ContainerId,
      name,
      startedAtMs,
      cpu: this.#rated(name, use.cpuNanoSeconds, startedAtMs),
      memory: {
        atMs: this.#deps.clock.now(),
        usageBytes: resident,
        workingSetBytes: resident,
        rssBytes: sizes.get('RssAnon') ?? resident,
        pageFaults: use.pageFaults,
        majorPageFaults: use.majorPageFaults,
      },
    };
  }
}
