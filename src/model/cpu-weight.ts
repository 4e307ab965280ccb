const MIN_SHARES = 2;
const MAX_SHARES = 262_144;
const MAX_WEIGHT = 10_000;

/** What cgroup v2 has for shares of cgroup v1, on a straight line: runc before 1.3, and the kubelet for pods' own cgroups (pkg/kubelet/cm cpuSharesToCPUWeight). */
export function linearCpuWeight(shares: number): number {
  return 1 + Math.trunc(((clamped(shares) - MIN_SHARES) * (MAX_WEIGHT - 1)) / (MAX_SHARES - MIN_SHARES));
}

/** The same on a curve, on which the 1024 shares of one CPU are the kernel's usual weight of 100: runc since 1.3 (opencontainers/cgroups ConvertCPUSharesToCgroupV2Value). */
export function curvedCpuWeight(shares: number): number {
  if (shares <= MIN_SHARES) return 1;
  if (shares >= MAX_SHARES) return MAX_WEIGHT;
  const log = Math.log2(shares);
  return Math.ceil(10 ** ((log * log + 125 * log) / 612 - 7 / 34));
}

/**
 * The shares behind a weight. Many shares have the same weight, and which of both conversions made it cannot be seen: those that were asked for
 * are taken where either fits, else the most that have this weight on the curve.
 */
export function sharesOfCpuWeight(weight: number, asked?: number): number {
  if (asked !== undefined && fits(weight, asked)) return asked;
  if (weight <= 1) return MIN_SHARES;
  if (weight >= MAX_WEIGHT) return MAX_SHARES;
  const log = (Math.sqrt(125 ** 2 + 4 * 612 * (Math.log10(weight) + 7 / 34)) - 125) / 2;
  // A whole number that is met exactly may come out a little less.
  return Math.floor(2 ** log + 1e-6);
}

/** The shares behind a weight of the straight line, the least where there are many (pkg/kubelet/cm cpuWeightToCPUShares). */
export function sharesOfLinearCpuWeight(weight: number): number {
  return Math.trunc(((weight - 1) * (MAX_SHARES - MIN_SHARES)) / (MAX_WEIGHT - 1)) + MIN_SHARES;
}

/** Whether one of the conversions makes this weight of these shares. */
export function fits(weight: number, shares: number): boolean {
  return weight === linearCpuWeight(shares) || weight === curvedCpuWeight(shares);
}

const clamped = (shares: number): number => Math.min(MAX_SHARES, Math.max(MIN_SHARES, shares));
