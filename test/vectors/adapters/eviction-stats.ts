import type { Pod } from '../../../src/model/pod.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { ContainerUsage, FilesystemStats, MemoryStats, PodUsage } from '../../../src/ports/pod-stats.ts';
import type { MeasuredPod } from '../../../src/eviction/rank-pods.ts';

interface ContainerInput {
  readonly name: string;
  readonly memory?: number;
  readonly rootfs?: number;
  readonly rootfsInodes?: number;
  readonly logs?: number;
  readonly logsInodes?: number;
}
export interface StatsInput {
  readonly pod: string;
  readonly memory?: number;
  readonly processes?: number;
  readonly containers?: readonly ContainerInput[];
  readonly volumes?: readonly { readonly name: string; readonly used?: number; readonly inodes?: number }[];
}

const atMs = 0;

function filesystem(used: number | undefined, inodes: number | undefined): FilesystemStats | undefined {
  if (used === undefined && inodes === undefined) return undefined;
  return { atMs, ...(used !== undefined && { usedBytes: used }), ...(inodes !== undefined && { inodesUsed: inodes }) };
}

const memoryOf = (workingSetBytes: number | undefined): MemoryStats | undefined =>
  workingSetBytes === undefined
    ? undefined
    : { atMs, usageBytes: workingSetBytes, workingSetBytes, rssBytes: 0, pageFaults: 0, majorPageFaults: 0 };

function containerOf({ name, memory, rootfs, rootfsInodes, logs, logsInodes }: ContainerInput): ContainerUsage {
  const [bytes, root, log] = [memoryOf(memory), filesystem(rootfs, rootfsInodes), filesystem(logs, logsInodes)];
  return {
    id: name as ContainerId,
    name,
    startedAtMs: 0,
    ...(bytes && { memory: bytes }),
    ...(root && { rootfs: root }),
    ...(log && { logs: log }),
  };
}

/** Each pod with its statistics, by its name. */
export function measured(pods: readonly Pod[], stats: readonly StatsInput[] = []): readonly MeasuredPod[] {
  return pods.map((pod) => {
    const found = stats.find((each) => each.pod === pod.metadata.name);
    if (found === undefined) return { pod, usage: undefined };
    const memory = memoryOf(found.memory);
    const usage: PodUsage = {
      uid: pod.metadata.uid,
      name: pod.metadata.name,
      namespace: pod.metadata.namespace,
      startedAtMs: 0,
      containers: (found.containers ?? []).map(containerOf),
      ...(memory && { memory }),
      ...(found.processes !== undefined && { processes: found.processes }),
      volumes: (found.volumes ?? []).map(({ name, used, inodes }) => ({ name, atMs, ...filesystem(used, inodes) })),
    };
    return { pod, usage };
  });
}
