import { containerCpuQuotaUs, containerCpuShares } from '../../../src/engines/docker/containers/container-resources.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { milliCpuToQuota, milliCpuToShares } from '../../../src/model/cpu-time.ts';
import { resourceConfigForPod } from '../../../src/model/resource-config.ts';

type Input =
  | { readonly op: 'shares' | 'containerShares'; readonly milliCPU: number }
  | { readonly op: 'quota' | 'containerQuota'; readonly milliCPU: number; readonly period: number; readonly cpuCFSQuotaPeriod?: boolean }
  | {
      readonly op: 'podConfig';
      readonly pod: Pod;
      readonly period: number;
      readonly enforceCPULimits: boolean;
      readonly cpuCFSQuotaPeriod?: boolean;
    };

export function run(input: Input): unknown {
  switch (input.op) {
    case 'shares':
      return milliCpuToShares(BigInt(input.milliCPU));
    case 'containerShares':
      return containerCpuShares(BigInt(input.milliCPU));
    case 'quota':
      return milliCpuToQuota(BigInt(input.milliCPU), input.period, input.cpuCFSQuotaPeriod ?? false);
    case 'containerQuota':
      return containerCpuQuotaUs(BigInt(input.milliCPU), input.period);
    case 'podConfig': {
      const { pod, period: periodUs, enforceCPULimits: enforceCpuLimits, cpuCFSQuotaPeriod: customPeriod = false } = input;
      const config = resourceConfigForPod(pod, { periodUs, enforceCpuLimits, customPeriod });
      return { ...config, hugePageLimit: Object.fromEntries(config.hugePageLimit) };
    }
    default:
      return input satisfies never;
  }
}
