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
  readonly maxUsageBytes?: number;
  /** How often the limit was hit. */
  readonly limitHits?: number;
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
}

/** What a container's cgroup grants it. Undefined: no limit. */
export interface CgroupLimits {
  readonly cpuShares?: number;
  readonly cpuPeriodUs?: number;
  readonly cpuQuotaUs?: number;
  readonly memoryBytes?: number;
  readonly memoryAndSwapBytes?: number;
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
}
export interface NodeUsage {
  readonly startedAtMs: number;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly network?: NetworkStats;
  readonly fs?: FilesystemStats;
  readonly imageFs?: FilesystemStats;
  readonly pids?: { readonly atMs: number; readonly max: number; readonly running: number };
  /** "kubelet", "runtime", "pods" as stats/summary names them. */
  readonly systemContainers: readonly ContainerUsage[];
}

/** What the node and its pods use. Measured when asked, at most once in a short while, however many ask. */
export interface PodStats {
  /** With `cpuAndMemory` nothing else is measured. */
  node(signal: AbortSignal, only?: 'cpuAndMemory'): Promise<NodeUsage>;
  pods(signal: AbortSignal, only?: 'cpuAndMemory'): Promise<readonly PodUsage[]>;
}
