import type { MessageInitShape } from '@bufbuild/protobuf';
import { guaranteedCpus } from '../../../model/guaranteed-cpus.ts';
import { containerLinuxResources, type LimitingNode, type LinuxResources, resourcesOfCgroup } from '../../../model/linux-resources.ts';
import type { Container, Pod } from '../../../model/pod.ts';
import type { ContainerChange, ObservedContainer } from '../../../ports/container-runtime.ts';
import type { LinuxContainerResourcesSchema } from '../api/runtime_pb.js';

export interface CriNode extends LimitingNode {
  /** --cpu-manager-policy=static: containers of Guaranteed pods have whole CPUs for themselves, and no quota. */
  readonly exclusiveCpus: boolean;
}

export type CriResources = MessageInitShape<typeof LinuxContainerResourcesSchema>;

/** Amounts beyond 64 bits are the most that fits. */
const int64 = (amount: number): bigint => {
  const value = BigInt(Math.trunc(amount));
  return value > 2n ** 63n - 1n ? 2n ** 63n - 1n : value;
};

export function criResources(pod: Pod, container: Container, node: CriNode): CriResources {
  const found = limitsOf(pod, container, node);
  return {
    cpuPeriod: int64(found.cpuPeriod),
    cpuQuota: int64(found.cpuQuota),
    cpuShares: int64(found.cpuShares),
    memoryLimitInBytes: int64(found.memoryLimit),
    memorySwapLimitInBytes: int64(found.memorySwapLimit),
    oomScoreAdj: int64(found.oomScoreAdj),
    unified: { ...found.unified },
  };
}

/** What is changed of a running container: 0 would leave an amount as it is, -1 takes the limit away. */
export function criUpdate(pod: Pod, container: Container, node: CriNode, change: ContainerChange): CriResources {
  if (typeof change === 'object') return { cpusetCpus: change.cpuset };
  const found = limitsOf(pod, container, node);
  const orUnlimited = (amount: number): bigint => (amount === 0 ? -1n : int64(amount));
  if (change === 'memory') {
    const swap = found.memorySwapLimit === 0 ? {} : { memorySwapLimitInBytes: int64(found.memorySwapLimit) };
    return { memoryLimitInBytes: orUnlimited(found.memoryLimit), ...swap };
  }
  const quota = found.cpuPeriod === 0 ? {} : { cpuPeriod: int64(found.cpuPeriod), cpuQuota: orUnlimited(found.cpuQuota) };
  return { cpuShares: int64(found.cpuShares), ...quota };
}

function limitsOf(pod: Pod, container: Container, node: CriNode): LinuxResources {
  const found = containerLinuxResources(pod, container, node);
  return node.exclusiveCpus && guaranteedCpus(pod, container) > 0 && found.cpuPeriod !== 0 ? { ...found, cpuQuota: -1 } : found;
}

/** As the OCI specification of the container has them by now (linux.resources). */
export interface OciResources {
  readonly cpu?: {
    readonly shares?: number;
    readonly quota?: number;
    readonly period?: number;
    readonly cpus?: string;
    readonly mems?: string;
  };
  readonly memory?: { readonly limit?: number };
}

export function resourcesOfOci({ cpu = {}, memory = {} }: OciResources): ObservedContainer['resources'] & {} {
  const { shares = 0, quota = 0, period = 0 } = cpu;
  // An unlimited amount may be written as the most that the kernel counts.
  const memoryLimit = memory.limit ?? 0;
  return resourcesOfCgroup({
    cpuShares: shares,
    cpuQuota: quota,
    cpuPeriod: period,
    memoryLimit: memoryLimit < 2 ** 63 - 4096 ? memoryLimit : 0,
  });
}
