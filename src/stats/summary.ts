import { formatTime } from '../model/time.ts';
import type {
  ContainerUsage,
  CpuStats,
  FilesystemStats,
  MemoryStats,
  NetworkStats,
  NodeUsage,
  PodUsage,
  Pressure,
  PressureStats,
  VolumeUsage,
} from '../ports/pod-stats.ts';

export interface SummaryOptions {
  readonly nodeName: string;
  /** ?only_cpu_and_memory=true */
  readonly onlyCpuAndMemory?: boolean;
}

/** JSON: undefined fields are not written. */
export type SummaryJson = Readonly<Record<string, unknown>>;

/** What /stats/summary answers: stats/v1alpha1 Summary (k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go). */
export function summaryOf(node: NodeUsage, pods: readonly PodUsage[], { nodeName, onlyCpuAndMemory = false }: SummaryOptions): SummaryJson {
  const rest = {
    network: network(node.network),
    fs: fileSystem(node.fs),
    runtime: node.imageFs && { imageFs: fileSystem(node.imageFs) },
    io: io(node.pressure),
    rlimit: node.pids && { time: formatTime(node.pids.atMs), maxpid: node.pids.max, curproc: node.pids.running },
  };
  return {
    node: {
      nodeName,
      systemContainers: node.systemContainers.map(basics),
      startTime: formatTime(node.startedAtMs),
      cpu: cpu(node.cpu, node.pressure),
      memory: memory(node.memory, node.pressure),
      swap: node.swap && {
        time: formatTime(node.swap.atMs),
        swapAvailableBytes: node.swap.availableBytes,
        swapUsageBytes: node.swap.usedBytes,
      },
      ...(onlyCpuAndMemory ? {} : rest),
    },
    pods: pods.map((pod) => podOf(pod, onlyCpuAndMemory)),
  };
}

function podOf(pod: PodUsage, onlyCpuAndMemory: boolean): SummaryJson {
  const rest = {
    io: io(pod.pressure),
    network: network(pod.network),
    volume: pod.volumes.length === 0 ? undefined : pod.volumes.map(volume),
    'ephemeral-storage': fileSystem(pod.ephemeralStorage),
    process_stats: pod.processes === undefined ? undefined : { process_count: pod.processes },
  };
  return {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    startTime: formatTime(pod.startedAtMs),
    containers: pod.containers.map((container) => ({
      ...basics(container),
      ...(onlyCpuAndMemory ? {} : { io: io(container.pressure), rootfs: fileSystem(container.rootfs), logs: fileSystem(container.logs) }),
    })),
    cpu: cpu(pod.cpu, pod.pressure),
    memory: memory(pod.memory, pod.pressure),
    swap: swap(pod.memory),
    ...(onlyCpuAndMemory ? {} : rest),
  };
}

function basics({ name, startedAtMs, cpu: use, memory: held, pressure }: ContainerUsage): SummaryJson {
  return { name, startTime: formatTime(startedAtMs), cpu: cpu(use, pressure), memory: memory(held, pressure), swap: swap(held) };
}

function cpu(stats: CpuStats | undefined, pressure: PressureStats | undefined): SummaryJson | undefined {
  if (stats === undefined) return undefined;
  const { atMs, usageNanoCores, usageCoreNanoSeconds } = stats;
  return { time: formatTime(atMs), usageNanoCores, usageCoreNanoSeconds, psi: psi(pressure?.cpu) };
}

/** Microseconds and percent, as the kernel counts them. */
function psi(pressure: Pressure | undefined): SummaryJson | undefined {
  const share = ({ totalUs, ...averages }: Pressure['some']): SummaryJson => ({ total: totalUs, ...averages });
  return pressure && { full: share(pressure.full), some: share(pressure.some) };
}

function io(pressure: PressureStats | undefined): SummaryJson | undefined {
  return pressure?.io && { time: formatTime(pressure.atMs), psi: psi(pressure.io) };
}

function swap(stats: MemoryStats | undefined): SummaryJson | undefined {
  if (stats?.swapBytes === undefined) return undefined;
  const { atMs, swapBytes, swapLimitBytes } = stats;
  return {
    time: formatTime(atMs),
    swapAvailableBytes: swapLimitBytes === undefined ? undefined : Math.max(0, swapLimitBytes - swapBytes),
    swapUsageBytes: swapBytes,
  };
}

function memory(stats: MemoryStats | undefined, pressure: PressureStats | undefined): SummaryJson | undefined {
  if (stats === undefined) return undefined;
  const { atMs, availableBytes, usageBytes, workingSetBytes, rssBytes, pageFaults, majorPageFaults } = stats;
  return {
    time: formatTime(atMs),
    availableBytes,
    usageBytes,
    workingSetBytes,
    rssBytes,
    pageFaults,
    majorPageFaults,
    psi: psi(pressure?.memory),
  };
}

function network(stats: NetworkStats | undefined): SummaryJson | undefined {
  if (stats === undefined) return undefined;
  const interfaces = stats.interfaces.map(({ name, rxBytes, rxErrors, txBytes, txErrors }) => ({
    name,
    rxBytes,
    rxErrors,
    txBytes,
    txErrors,
  }));
  return { time: formatTime(stats.atMs), ...(interfaces[0] ?? { name: '' }), interfaces: interfaces.length === 0 ? undefined : interfaces };
}

function fileSystem(stats: FilesystemStats | undefined): SummaryJson | undefined {
  if (stats === undefined) return undefined;
  const { atMs, availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed } = stats;
  return { time: formatTime(atMs), availableBytes, capacityBytes, usedBytes, inodesFree, inodes, inodesUsed };
}

/** What is not known of a volume is zero there (server/stats parsePodVolumeStats). */
function volume({ name, claim, ...stats }: VolumeUsage): SummaryJson {
  const nothing = { availableBytes: 0, capacityBytes: 0, usedBytes: 0, inodesFree: 0, inodes: 0, inodesUsed: 0 };
  return { ...fileSystem({ ...nothing, ...stats }), name, pvcRef: claim };
}
