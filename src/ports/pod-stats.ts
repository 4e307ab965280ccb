import type { PodUid } from '../model/pod.ts';
import type { ContainerId } from './container-runtime.ts';

/** Times are milliseconds since the epoch; counters count from the container's start. Undefined: not known here. */
export interface CpuStats {
  readonly atMs: number;
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds: number;
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
  node(signal: AbortSignal): Promise<NodeUsage>;
  pods(signal: AbortSignal): Promise<readonly PodUsage[]>;
}
