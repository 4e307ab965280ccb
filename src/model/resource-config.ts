import { MIN_SHARES, milliCpuToQuota, milliCpuToShares } from './cpu-time.ts';
import { podGuaranteedCpus } from './guaranteed-cpus.ts';
import { hasPodLevelResources } from './pod-level-resources.ts';
import { podLimits, podRequests, type Quantities } from './pod-resources.ts';
import type { Pod } from './pod.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';

/** What a cgroup of pods is set to. Undefined is left alone. */
export interface ResourceConfig {
  readonly cpuShares?: number;
  /** In microseconds; -1: no limit. */
  readonly cpuQuota?: number;
  readonly cpuPeriod?: number;
  /** In bytes. */
  readonly memory?: number;
  readonly pidsLimit?: number;
  /** Page size to limit, both in bytes. */
  readonly hugePageLimit?: ReadonlyMap<number, number>;
  /** Files of cgroup v2, which say what nothing above does. */
  readonly unified?: Readonly<Record<string, string>>;
}

/** How much of its memory a pod keeps when memory runs short: memoryReservationPolicy. */
export type MemoryReservationPolicy = 'None' | 'TieredReservation';

export interface PodLimiting {
  readonly periodUs: number;
  /** --cpu-cfs-quota */
  readonly enforceCpuLimits: boolean;
  /** Containers of Guaranteed pods have whole CPUs for themselves, and no other limit of CPU. */
  readonly exclusiveCpus?: boolean;
  /** Whether the period may be another than 100 ms. */
  readonly customPeriod: boolean;
  /** The policy where the feature MemoryQoS is on and cgroup v2 is there; undefined: it is not. */
  readonly memoryQos?: MemoryReservationPolicy | undefined;
}

/** A pod's cgroup: limits only where every container has one, or the pod as a whole (pkg/kubelet/cm ResourceConfigForPod). Throws QuantityParseError. */
export function resourceConfigForPod(
  pod: Pod,
  { periodUs, enforceCpuLimits, exclusiveCpus = false, customPeriod, memoryQos }: PodLimiting,
): ResourceConfig & Required<Pick<ResourceConfig, 'hugePageLimit'>> {
  const requests = podRequests(pod);
  const shares: Quantities[] = [];
  const limits = podLimits(pod, { onContainer: (_, share) => shares.push(share) });
  const isLimited = (name: 'cpu' | 'memory'): boolean =>
    (hasPodLevelResources(pod) && !Quantity.fromJson(pod.spec.resources?.limits?.[name]).isZero()) ||
    shares.every((share) => !(share.get(name) ?? Quantity.zero).isZero());
  const qos = pod.status?.qosClass || podQosClass(pod);
  const limited = (name: 'cpu' | 'memory'): boolean => qos === 'Guaranteed' || (qos === 'Burstable' && isLimited(name));
  // DisableCPUQuotaWithExclusiveCPUs: a quota would hold a container back on CPUs that no other may use.
  const isEnforced = enforceCpuLimits && !(exclusiveCpus && podGuaranteedCpus(pod) > 0);
  const quota = milliCpuToQuota(limits.get('cpu')?.milliValue() ?? 0n, periodUs, customPeriod);
  return {
    cpuShares: qos === 'BestEffort' ? MIN_SHARES : milliCpuToShares(requests.get('cpu')?.milliValue() ?? 0n),
    ...(limited('cpu') && { cpuQuota: isEnforced ? quota : -1, cpuPeriod: periodUs }),
    ...(limited('memory') && { memory: Number(limits.get('memory')?.value() ?? 0n) }),
    hugePageLimit: hugePageLimits(requests),
    ...(memoryQos === 'TieredReservation' && reservedMemory(requests, qos)),
  };
}

/** What the kernel takes from a Guaranteed pod last of all, and from any other before that. */
function reservedMemory(requests: Quantities, qos: string): Pick<ResourceConfig, 'unified'> {
  const bytes = requests.get('memory')?.value() ?? 0n;
  return bytes > 0n ? { unified: { [qos === 'Guaranteed' ? 'memory.min' : 'memory.low']: `${bytes}` } } : {};
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

/** Page size to amount, both in bytes (HugePageLimits). */
export function hugePageLimits(amounts: Quantities): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const [name, amount] of amounts) {
    if (!name.startsWith(HUGE_PAGES)) continue;
    const pageSize = pageBytes(name.slice(HUGE_PAGES.length));
    found.set(pageSize, (found.get(pageSize) ?? 0) + Number(amount.value()));
  }
  return found;
}
