import type { PodUid } from '../model/pod.ts';
import type { ContainerId } from './container-runtime.ts';

/** Times are milliseconds since the epoch; counters count from the container's start. Undefined: not known here. */
export interface CpuStats {
  readonly atMs: number;
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds: number;
  readonly userNanoSeconds?: number;
  readonly systemNanoSeconds?: number;
  /** How the CPU limit was enforced; undefined without a limit. */
  readonly throttling?: { readonly periods: number; readonly throttledPeriods: number; readonly throttledNanoSeconds: number };
}
export interface MemoryStats {
  readonly atMs: number;
  readonly availableBytes?: number;
  readonly usageBytes: number;
  /** Usage less what the kernel can drop at once (inactive file pages). */
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
  readonly cacheBytes?: number;
  readonly mappedFileBytes?: number;
  readonly swapBytes?: number;
  /** Of swap alone; cgroup v2 only. Undefined: no limit. */
  readonly swapLimitBytes?: number;
  readonly maxUsageBytes?: number;
  /** How often the limit was hit. */
  readonly limitHits?: number;
  /** Processes that were killed because memory ran out. */
  readonly oomKills?: number;
}
/** How long processes waited for something: a share of time, in percent, over the last 10, 60 and 300 seconds, and altogether. */
export interface PressureShare {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly totalUs: number;
}
/** Of one resource (PSI): some of the processes waited, or all that could have run. */
export interface Pressure {
  readonly some: PressureShare;
  readonly full: PressureShare;
}
/** Of a cgroup of version 2, or of the machine. Undefined: the kernel does not count it. */
export interface PressureStats {
  readonly atMs: number;
  readonly cpu?: Pressure;
  readonly memory?: Pressure;
  readonly io?: Pressure;
}
/** What went to and from one disk. */
export interface DiskStats {
  /** "/dev/sda", or "8:0" where the machine has no name for it. */
  readonly device: string;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly reads: number;
  readonly writes: number;
}
export interface NetworkInterfaceStats {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly rxPackets: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txErrors: number;
  readonly txPackets: number;
  readonly txDropped: number;
}
export interface NetworkStats {
  readonly atMs: number;
  /** The default interface is the first. */
  readonly interfaces: readonly NetworkInterfaceStats[];
}
export interface FilesystemStats {
  readonly atMs: number;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
  /** "/dev/sda1" */
  readonly device?: string;
  /** The same for what lies on one file system, and nothing else; undefined: not known. */
  readonly fileSystem?: string;
}

/** What a container's cgroup grants it. Undefined: no limit. */
export interface CgroupLimits {
  readonly cpuShares?: number;
  readonly cpuPeriodUs?: number;
  readonly cpuQuotaUs?: number;
  readonly memoryBytes?: number;
  /** Of both together with cgroup v1, of swap alone with v2: as cAdvisor reports it. */
  readonly swapBytes?: number;
  readonly memoryReservationBytes?: number;
}

/** What one container, pause containers ("POD") included, uses now. */
export interface ContainerUsage {
  readonly id: ContainerId;
  readonly name: string;
  readonly startedAtMs: number;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly rootfs?: FilesystemStats;
  readonly logs?: FilesystemStats;
  /** "/docker/ID": the path below the cgroup hierarchy's root. */
  readonly cgroup?: string;
  /** As the engine calls it. */
  readonly engineName?: string;
  readonly image?: string;
  readonly processes?: number;
  readonly threads?: number;
  readonly limits?: CgroupLimits;
  readonly pressure?: PressureStats;
  readonly disks?: readonly DiskStats[];
}
export interface VolumeUsage extends FilesystemStats {
  readonly name: string;
  readonly claim?: { readonly name: string; readonly namespace: string };
}
export interface PodUsage {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  readonly startedAtMs: number;
  readonly containers: readonly ContainerUsage[];
  readonly sandbox?: ContainerUsage;
  /** Undefined for pods on the node's network. */
  readonly network?: NetworkStats;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly volumes: readonly VolumeUsage[];
  readonly ephemeralStorage?: FilesystemStats;
  readonly processes?: number;
  /** Of the pod's own cgroup, where it has one; else `cpu` and `memory` are its containers' sums. */
  readonly cgroup?: string;
  /** Of the pod's own cgroup alone: there is no sum of these. */
  readonly pressure?: PressureStats;
}
export interface NodeUsage {
  readonly startedAtMs: number;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly network?: NetworkStats;
  readonly fs?: FilesystemStats;
  readonly imageFs?: FilesystemStats;
  readonly pids?: { readonly atMs: number; readonly max: number; readonly running: number };
  readonly swap?: { readonly atMs: number; readonly usedBytes: number; readonly availableBytes: number };
  readonly pressure?: PressureStats;
  readonly disks?: readonly DiskStats[];
  /** "kubelet", "runtime", "pods" as stats/summary names them. */
  readonly systemContainers: readonly ContainerUsage[];
}

/** What the node and its pods use. Measured when asked, at most once in a short while, however many ask. */
export interface PodStats {
  /**
   * With `cpuAndMemory` nothing else is measured; with `machine` what the kernel counts of the machine as a whole: CPU, memory, pressure and the
   * file system of the root directory, without any cgroup, pod or question to the engine; with `signals` no more than what the node may run
   * short of: memory, file systems, processes.
   */
  node(signal: AbortSignal, only?: 'cpuAndMemory' | 'machine' | 'signals'): Promise<NodeUsage>;
  /** With `afresh` what lies in directories, mostly as old as a minute, is counted now: for 10 s at most, then what was known has to do. */
  pods(signal: AbortSignal, how?: 'cpuAndMemory' | 'afresh'): Promise<readonly PodUsage[]>;
}
