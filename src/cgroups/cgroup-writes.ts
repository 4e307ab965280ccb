import { linearCpuWeight } from '../model/cpu-weight.ts';
import type { ResourceConfig } from '../model/resource-config.ts';

/** A file of a cgroup, and what it is to say. */
export interface CgroupWrite {
  /** As cgroup v1 names its hierarchy. */
  readonly controller: 'cpu' | 'memory' | 'pids' | 'hugetlb';
  readonly file: string;
  readonly value: string;
}

/** The machine's page sizes in bytes, and what cgroups call them: 2097152, "2MB". */
export type HugePageSizes = ReadonlyMap<number, string>;

/** What makes a cgroup be as it is to be, in the order in which the kernel takes it; 0 is not set (opencontainers/cgroups fs and fs2). */
export function cgroupWrites(config: ResourceConfig, version: 1 | 2, sizes: HugePageSizes): readonly CgroupWrite[] {
  const { cpuShares, cpuQuota = 0, cpuPeriod = 0, memory = 0, pidsLimit = 0, hugePageLimit, unified = {} } = config;
  const writes: CgroupWrite[] = [];
  const write = (controller: CgroupWrite['controller'], file: string, value: number | string): void => {
    // A large number's own text would be one with an exponent.
    writes.push({ controller, file: `${controller}.${file}`, value: typeof value === 'number' ? `${BigInt(value)}` : value });
  };
  if (version === 1) {
    if (cpuShares !== undefined) write('cpu', 'shares', cpuShares);
    if (cpuPeriod !== 0) write('cpu', 'cfs_period_us', cpuPeriod);
    if (cpuQuota !== 0) write('cpu', 'cfs_quota_us', cpuQuota);
    if (memory !== 0) write('memory', 'limit_in_bytes', memory);
  } else {
    if (cpuShares !== undefined) write('cpu', 'weight', linearCpuWeight(cpuShares));
    if (cpuQuota !== 0) write('cpu', 'max', `${cpuQuota < 0 ? 'max' : cpuQuota} ${cpuPeriod}`);
    if (memory !== 0) write('memory', 'max', memory);
  }
  if (pidsLimit > 0) write('pids', 'max', pidsLimit);
  if (hugePageLimit)
    for (const [bytes, size] of sizes)
      write('hugetlb', `${size}.${version === 1 ? 'limit_in_bytes' : 'max'}`, hugePageLimit.get(bytes) ?? 0);
  if (version === 2) for (const [file, value] of Object.entries(unified)) writes.push({ controller: 'memory', file, value });
  return writes;
}
