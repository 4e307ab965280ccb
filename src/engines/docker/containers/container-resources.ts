import { resourcesOfCgroup } from '../../../model/linux-resources.ts';
import { effectiveResources, type ResizableResource } from '../../../model/effective-resources.ts';
import { guaranteedCpus } from '../../../model/guaranteed-cpus.ts';
import { isCriticalPod } from '../../../model/critical-pod.ts';
import type { Container, Pod } from '../../../model/pod.ts';
import { podQosClass } from '../../../model/qos.ts';
import { Quantity } from '../../../model/quantity.ts';
import type { ObservedContainer } from '../../../ports/container-runtime.ts';

const MIN_SHARES = 2;
const SHARES_PER_CPU = 1024n;
const MIN_QUOTA_US = 1000;

/** Kubernetes computes in 64 bits, and so do the engine and the kernel: amounts beyond any machine's wrap around. */
const int64 = (value: bigint): bigint => BigInt.asIntN(64, value);

/** Not clamped above, unlike a pod cgroup's (pkg/kubelet/kuberuntime/helpers_linux.go). */
export function containerCpuShares(milliCpu: bigint): number {
  return Math.max(MIN_SHARES, Number(int64(milliCpu * SHARES_PER_CPU) / 1000n));
}

/** Microseconds of CPU time in each period; 0 is no limit. */
export function containerCpuQuotaUs(milliCpu: bigint, periodUs: number): number {
  return int64(milliCpu) === 0n ? 0 : Math.max(MIN_QUOTA_US, Number(int64(milliCpu * BigInt(periodUs)) / 1000n));
}

const GUARANTEED_OOM_SCORE = -997;
const BEST_EFFORT_OOM_SCORE = 1000;
/** Who dies first when memory runs out: the more memory a container asked for, the later (pkg/kubelet/qos/policy.go). */
export function oomScoreAdj(pod: Pod, container: Container, memoryCapacityBytes: number): number {
  if (isCriticalPod(pod)) return GUARANTEED_OOM_SCORE;
  const qos = podQosClass(pod);
  if (qos === 'Guaranteed') return GUARANTEED_OOM_SCORE;
  if (qos === 'BestEffort') return BEST_EFFORT_OOM_SCORE;
  const request = Quantity.fromJson(container.resources?.requests?.['memory']).value();
  const score = 1000 - Number(int64(1000n * request) / BigInt(memoryCapacityBytes));
  // Burstable stays between the other two.
  return Math.min(BEST_EFFORT_OOM_SCORE - 1, Math.max(1000 + GUARANTEED_OOM_SCORE, score));
}

export interface NodeResources {
  readonly memoryCapacityBytes: number;
  /** --cpu-cfs-quota */
  readonly cpuCfsQuota: boolean;
  /** --cpu-manager-policy=static: containers of Guaranteed pods have whole CPUs for themselves, and no quota. */
  readonly exclusiveCpus?: boolean;
  /** --cpu-cfs-quota-period, in microseconds. */
  readonly cpuCfsQuotaPeriodUs: number;
  /** --pod-max-pids, for containers of pods without a cgroup of their own: zero or less is no limit. */
  readonly podPidsLimit: number;
  /** How much swap a container may use; undefined: none. */
  readonly swapBytes?: (pod: Pod, container: Container) => number;
}

/** The most that a number here can say without leaving the 64 bits of docker's, which "8Ei" fills. */
const MAX_BYTES = 2 ** 63 - 1024;

/**
 * The resource part of docker's HostConfig. Docker counts memory and swap together: limited alike, a container never swaps. Of one without a
 * limit of memory it limits no swap.
 */
export function dockerResources(pod: Pod, container: Container, node: NodeResources): DockerResources {
  const { requests, limits } = effectiveResources(pod, container);
  const cpuRequest = Quantity.fromJson(requests?.['cpu']);
  const cpuLimit = Quantity.fromJson(limits?.['cpu']);
  const memory = Math.min(MAX_BYTES, Number(int64(Quantity.fromJson(limits?.['memory']).value())));
  const hasOwn = node.exclusiveCpus === true && guaranteedCpus(pod, container) > 0;
  // Without a request the limit stands in for it.
  const shares = containerCpuShares((cpuRequest.isZero() ? cpuLimit : cpuRequest).milliValue());
  return {
    CpuShares: shares,
    CpuPeriod: node.cpuCfsQuota ? node.cpuCfsQuotaPeriodUs : undefined,
    CpuQuota: node.cpuCfsQuota ? (hasOwn ? -1 : containerCpuQuotaUs(cpuLimit.milliValue(), node.cpuCfsQuotaPeriodUs)) : undefined,
    Memory: memory,
    MemorySwap: memory === 0 ? 0 : Math.min(MAX_BYTES, memory + (node.swapBytes?.(pod, container) ?? 0)),
    OomScoreAdj: oomScoreAdj(pod, container, node.memoryCapacityBytes),
    PidsLimit: node.podPidsLimit > 0 ? node.podPidsLimit : undefined,
  };
}

export interface DockerResources {
  readonly CpuShares: number;
  readonly CpuPeriod: number | undefined;
  readonly CpuQuota: number | undefined;
  readonly Memory: number;
  readonly MemorySwap: number;
  readonly OomScoreAdj: number;
  readonly PidsLimit: number | undefined;
}

/** What the kernel calls no limit, rounded down to whole pages: docker takes no -1 for the memory of a container that runs. */
const UNLIMITED_BYTES = 2 ** 63 - 4096;

/** What docker is to change of a running container: to it 0 leaves an amount as it is. */
export function dockerUpdate(resources: DockerResources, resource: ResizableResource): DockerUpdate {
  const orUnlimited = (amount: number, unlimited: number): number => (amount === 0 ? unlimited : amount);
  if (resource === 'memory') {
    const { Memory, MemorySwap } = resources;
    return { Memory: orUnlimited(Memory, UNLIMITED_BYTES), MemorySwap: orUnlimited(MemorySwap, UNLIMITED_BYTES) };
  }
  const { CpuShares, CpuPeriod, CpuQuota } = resources;
  return { CpuShares, ...(CpuQuota !== undefined && { CpuPeriod, CpuQuota: orUnlimited(CpuQuota, -1) }) };
}

export type DockerUpdate = Readonly<
  Partial<Record<'CpuShares' | 'CpuPeriod' | 'CpuQuota' | 'Memory' | 'MemorySwap', number | undefined>>
> & {
  readonly CpusetCpus?: string | undefined;
};

/** A container's resources as docker has set them. Amounts that were never set are missing or 0. */
export function resourcesOf({ CpuShares = 0, CpuPeriod = 0, CpuQuota = 0, Memory = 0 }: DockerUpdate): ObservedContainer['resources'] & {} {
  const memoryLimit = Memory < UNLIMITED_BYTES ? Memory : 0;
  return resourcesOfCgroup({ cpuShares: CpuShares, cpuPeriod: CpuPeriod, cpuQuota: CpuQuota, memoryLimit });
}
