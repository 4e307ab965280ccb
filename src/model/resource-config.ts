import { MIN_SHARES, milliCpuToQuota, milliCpuToShares } from './cpu-time.ts';
import type { Pod } from './pod.ts';
import { podRequestsAndLimits } from './pod-resources.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';

/** What a pod's own cgroup would be set to, which nothing makes yet. Undefined is left alone. */
export interface ResourceConfig {
  readonly cpuShares: number;
  /** In microseconds; -1: no limit. */
  readonly cpuQuota?: number;
  readonly cpuPeriod?: number;
  /** In bytes. */
  readonly memory?: number;
  /** Page size to limit, both in bytes. */
  readonly hugePageLimit: ReadonlyMap<number, number>;
}

export interface CpuLimiting {
  readonly periodUs: number;
  /** --cpu-cfs-quota */
  readonly enforceCpuLimits: boolean;
  /** Whether the period may be another than 100 ms. */
  readonly customPeriod: boolean;
}

/** A pod's cgroup: limits only where every container has one (pkg/kubelet/cm ResourceConfigForPod). Throws QuantityParseError. */
export function resourceConfigForPod(pod: Pod, { periodUs, enforceCpuLimits, customPeriod }: CpuLimiting): ResourceConfig {
  const { requests, limits } = podRequestsAndLimits(pod);
  const cpuShares = milliCpuToShares(requests.get('cpu')?.milliValue() ?? 0n);
  const quota = milliCpuToQuota(limits.get('cpu')?.milliValue() ?? 0n, periodUs, customPeriod);
  const cpu = { cpuQuota: enforceCpuLimits ? quota : -1, cpuPeriod: periodUs };
  const memory = { memory: Number(limits.get('memory')?.value() ?? 0n) };
  const hugePageLimit = hugePageLimits(pod);
  const declared = (name: string): boolean =>
    pod.spec.containers.every(({ resources }) => !Quantity.fromJson(resources?.limits?.[name]).isZero());
  const qos = podQosClass(pod);
  if (qos === 'BestEffort') return { cpuShares: MIN_SHARES, hugePageLimit };
  const limited = (name: string): boolean => qos === 'Guaranteed' || declared(name);
  return { cpuShares, ...(limited('cpu') && cpu), ...(limited('memory') && memory), hugePageLimit };
}

const HUGE_PAGES = 'hugepages-';

/** 0 where the name tells no size: the API takes any that begins with the prefix. */
function pageBytes(size: string): number {
  try {
    return Number(Quantity.parse(size).value());
  } catch {
    return 0;
  }
}

function hugePageLimits({ spec }: Pod): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const [name, text] of spec.containers.flatMap(({ resources }) => Object.entries(resources?.requests ?? {}))) {
    if (!name.startsWith(HUGE_PAGES)) continue;
    const pageSize = pageBytes(name.slice(HUGE_PAGES.length));
    found.set(pageSize, (found.get(pageSize) ?? 0) + Number(Quantity.fromJson(text).value()));
  }
  return found;
}
