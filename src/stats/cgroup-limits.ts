import { sharesOfCpuWeight } from '../model/cpu-weight.ts';
import type { CgroupLimits } from '../ports/pod-stats.ts';
import { type CgroupFiles, limited, optional, parseNumber } from './cgroup-texts.ts';

export const limitFilesV1 = [
  'cpu.shares',
  'cpu.cfs_period_us',
  'cpu.cfs_quota_us',
  'memory.limit_in_bytes',
  'memory.memsw.limit_in_bytes',
  'memory.soft_limit_in_bytes',
] as const;
export const limitFilesV2 = ['cpu.weight', 'cpu.max', 'memory.max', 'memory.swap.max', 'memory.low'] as const;

export function limitsOfV1(files: CgroupFiles<(typeof limitFilesV1)[number]>): CgroupLimits {
  const quota = parseNumber(files['cpu.cfs_quota_us']);
  return {
    ...optional('cpuShares', parseNumber(files['cpu.shares'])),
    ...optional('cpuPeriodUs', parseNumber(files['cpu.cfs_period_us'])),
    ...optional('cpuQuotaUs', quota !== undefined && quota > 0 ? quota : undefined),
    ...optional('memoryBytes', limited(parseNumber(files['memory.limit_in_bytes']))),
    ...optional('swapBytes', limited(parseNumber(files['memory.memsw.limit_in_bytes']))),
    ...optional('memoryReservationBytes', limited(parseNumber(files['memory.soft_limit_in_bytes']))),
  };
}

/** `askedShares`: what the engine was asked for, which the weight alone does not tell. */
export function limitsOfV2(files: CgroupFiles<(typeof limitFilesV2)[number]>, askedShares?: number): CgroupLimits {
  const [quota, period] = (files['cpu.max'] ?? '').trim().split(' ').map(parseNumber);
  const weight = parseNumber(files['cpu.weight']);
  return {
    ...optional('cpuShares', weight === undefined ? undefined : sharesOfCpuWeight(weight, askedShares)),
    ...optional('cpuPeriodUs', period),
    ...optional('cpuQuotaUs', quota),
    ...optional('memoryBytes', limited(parseNumber(files['memory.max']))),
    ...optional('swapBytes', limited(parseNumber(files['memory.swap.max']))),
    ...optional('memoryReservationBytes', parseNumber(files['memory.low'])),
  };
}
