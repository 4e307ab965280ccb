// As the kernel has them (kernel/sched/sched.h).
export const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const SHARES_PER_CPU = 1024n;
const MIN_QUOTA_US = 1000;
export const DEFAULT_PERIOD_US = 100_000;

/** Kubernetes computes in 64 bits: amounts beyond any machine's wrap around. */
const int64 = (value: bigint): bigint => BigInt.asIntN(64, value);

/** A cgroup's CPU shares for so many millicores (pkg/kubelet/cm MilliCPUToShares). */
export function milliCpuToShares(milliCpu: bigint): number {
  if (milliCpu === 0n) return MIN_SHARES;
  return Math.min(MAX_SHARES, Math.max(MIN_SHARES, Number(int64(milliCpu * SHARES_PER_CPU) / 1000n)));
}

/** A cgroup's CPU time in each period, in microseconds; 0 is no limit. Without `customPeriod` a period is 100 ms (pkg/kubelet/cm MilliCPUToQuota). */
export function milliCpuToQuota(milliCpu: bigint, periodUs: number, customPeriod: boolean): number {
  if (milliCpu === 0n) return 0;
  return Math.max(MIN_QUOTA_US, Number(int64(milliCpu * BigInt(customPeriod ? periodUs : DEFAULT_PERIOD_US)) / 1000n));
}

/** Rounded up; 0 where shares say nothing (pkg/kubelet/cm SharesToMilliCPU). */
export function sharesToMilliCpu(shares: number): number {
  return shares < MIN_SHARES ? 0 : Math.ceil((shares * 1000) / Number(SHARES_PER_CPU));
}

/** 0 where there is no limit (pkg/kubelet/cm QuotaToMilliCPU). */
export function quotaToMilliCpu(quotaUs: number, periodUs: number): number {
  return quotaUs === -1 || periodUs <= 0 ? 0 : Math.trunc((quotaUs * 1000) / periodUs);
}
