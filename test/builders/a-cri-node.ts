import type { CriNode } from '../../src/engines/cri/containers/linux-resources.ts';

/** 8 GiB of cgroup v1, without swap. */
export const aCriNode: CriNode = {
  cgroup: 1,
  memoryCapacity: 8 * 2 ** 30,
  allocatableMemory: 8 * 2 ** 30,
  swapCapacity: 0,
  swapController: false,
  swapBehavior: 'NoSwap',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodUs: undefined,
  singleProcessOomKill: undefined,
  memoryQos: false,
  memoryReservationPolicy: 'None',
  memoryThrottlingFactor: 0.9,
  hugePageSizes: [],
  exclusiveCpus: false,
};
