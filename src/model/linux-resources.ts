import { DEFAULT_PERIOD_US, milliCpuToQuota, milliCpuToShares, quotaToMilliCpu, sharesToMilliCpu } from './cpu-time.ts';
import { oomScoreAdj } from './oom-score.ts';
import { hasPodLevelResources } from './pod-level-resources.ts';
import { podLimits, podRequests } from './pod-resources.ts';
import type { Container, Pod } from './pod.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';
import { swapBytes, type SwapRules } from './swap-limit.ts';

/** What of the node decides how containers are limited. Amounts are bytes. */
export interface LimitingNode extends SwapRules {
  readonly allocatableMemory: number;
  /** --cpu-cfs-quota */
  readonly cpuCfsQuota: boolean;
  /** Undefined: 100 ms. */
  readonly cpuCfsQuotaPeriodUs: number | undefined;
  /** Undefined: as true. */
  readonly singleProcessOomKill: boolean | undefined;
  /** The feature MemoryQoS; on only with cgroup v2. */
  readonly memoryQos: boolean;
  readonly memoryReservationPolicy: 'None' | 'TieredReservation';
  readonly memoryThrottlingFactor: number;
  /** As cgroups name them: "2MB". */
  readonly hugePageSizes: readonly string[];
}

/** What a cgroup is set to; 0 is not set. Bytes and microseconds. */
export interface LinuxResources {
  readonly cpuShares: number;
  readonly cpuPeriod: number;
  readonly cpuQuota: number;
  readonly memoryLimit: number;
  /** Of memory and swap together; cgroup v1 only. */
  readonly memorySwapLimit: number;
  readonly oomScoreAdj: number;
  /** Files of cgroup v2. */
  readonly unified: Readonly<Record<string, string>>;
  readonly hugepages: Readonly<Record<string, number>>;
}

const PAGE_BYTES = 4096;

/** A container's limits (generateLinuxContainerResources in pkg/kubelet/kuberuntime). Throws QuantityParseError. */
export function containerLinuxResources(pod: Pod, container: Container, node: LimitingNode): LinuxResources {
  const { requests, limits } = container.resources ?? {};
  const common = limited(
    {
      cpuRequest: requests?.['cpu'] === undefined ? undefined : Quantity.fromJson(requests['cpu']),
      cpuLimit: limitOf(pod, container, 'cpu'),
      memoryLimit: limitOf(pod, container, 'memory'),
    },
    node,
  );
  const swap = node.swapController && node.cgroup === 2 ? swapBytes(pod, container, node) : undefined;
  const memory = {
    request: Number(Quantity.fromJson(requests?.['memory']).value()),
    limit: Number(Quantity.fromJson(limits?.['memory']).value()),
  };
  return {
    ...common,
    memorySwapLimit: node.swapController && node.cgroup === 1 ? common.memoryLimit : 0,
    oomScoreAdj: oomScoreAdj(pod, container, node.memoryCapacity),
    unified: {
      ...common.unified,
      ...(swap === undefined ? {} : { 'memory.swap.max': `${swap}` }),
      ...(node.memoryQos ? memoryQos(pod, memory, node) : {}),
    },
    hugepages: hugePageLimits(pod, container, node),
  };
}

/** What an engine may want to know of the pod when it makes its sandbox (calculateSandboxResources, convertOverheadToLinuxResources). */
export function sandboxLinuxResources(
  pod: Pod,
  node: LimitingNode,
): { readonly resources: LinuxResources; readonly overhead: LinuxResources | undefined } {
  const requests = podRequests(pod, { excludeOverhead: true });
  const limits = podLimits(pod, { excludeOverhead: true });
  const { overhead } = pod.spec;
  const cpu = Quantity.fromJson(overhead?.['cpu']);
  const overheadLimits = { cpuRequest: cpu, cpuLimit: cpu, memoryLimit: Quantity.fromJson(overhead?.['memory']) };
  return {
    resources: limited(
      {
        cpuRequest: requests.get('cpu'),
        cpuLimit: limits.get('cpu') ?? Quantity.zero,
        memoryLimit: limits.get('memory') ?? Quantity.zero,
      },
      node,
    ),
    overhead: overhead === undefined ? undefined : limited(overheadLimits, node),
  };
}

/** A container's resources as its cgroup has them (toKubeContainerResources); what is not set is left out. */
export function resourcesOfCgroup({
  cpuShares,
  cpuQuota,
  cpuPeriod,
  memoryLimit,
}: Pick<LinuxResources, 'cpuShares' | 'cpuQuota' | 'cpuPeriod' | 'memoryLimit'>): {
  readonly cpuRequest?: Quantity;
  readonly cpuLimit?: Quantity;
  readonly memoryLimit?: Quantity;
} {
  const requested = sharesToMilliCpu(cpuShares);
  const allowed = quotaToMilliCpu(cpuQuota, cpuPeriod);
  return {
    ...(requested > 0 && { cpuRequest: Quantity.ofMilli(requested) }),
    ...(allowed > 0 && { cpuLimit: Quantity.ofMilli(allowed) }),
    ...(memoryLimit > 0 && { memoryLimit: Quantity.of(memoryLimit, 'BinarySI') }),
  };
}

interface Limits {
  readonly cpuRequest: Quantity | undefined;
  readonly cpuLimit: Quantity;
  readonly memoryLimit: Quantity;
}

/** Without a request the limit stands in for it. */
function limited({ cpuRequest, cpuLimit, memoryLimit }: Limits, node: LimitingNode): LinuxResources {
  const period = node.cpuCfsQuotaPeriodUs ?? DEFAULT_PERIOD_US;
  return {
    cpuShares: milliCpuToShares((cpuRequest ?? cpuLimit).milliValue()),
    cpuPeriod: node.cpuCfsQuota ? period : 0,
    cpuQuota: node.cpuCfsQuota ? milliCpuToQuota(cpuLimit.milliValue(), period, true) : 0,
    memoryLimit: Number(memoryLimit.value()),
    memorySwapLimit: 0,
    oomScoreAdj: 0,
    unified: node.cgroup === 2 && node.singleProcessOomKill === false ? { 'memory.oom.group': '1' } : {},
    hugepages: {},
  };
}

/** A container's own limit, else the pod's. */
function limitOf(pod: Pod, container: Container, name: 'cpu' | 'memory'): Quantity {
  const own = Quantity.fromJson(container.resources?.limits?.[name]);
  return own.isZero() && hasPodLevelResources(pod) ? Quantity.fromJson(pod.spec.resources?.limits?.[name]) : own;
}

/** The files of the feature MemoryQoS. */
function memoryQos(
  pod: Pod,
  { request, limit }: { readonly request: number; readonly limit: number },
  { memoryReservationPolicy, memoryThrottlingFactor, allocatableMemory }: LimitingNode,
): Readonly<Record<string, string>> {
  const guaranteed = (pod.status?.qosClass || podQosClass(pod)) === 'Guaranteed';
  const reserved: Readonly<Record<string, string>> =
    request !== 0 && memoryReservationPolicy === 'TieredReservation'
      ? { [guaranteed ? 'memory.min' : 'memory.low']: `${request}` }
      : { 'memory.min': '0', 'memory.low': '0' };
  const most = limit === 0 ? allocatableMemory : limit;
  if (request === limit || most <= 0) return reserved;
  const high = Math.trunc(Math.floor(request + (most - request) * memoryThrottlingFactor) / PAGE_BYTES) * PAGE_BYTES;
  return high > request ? { ...reserved, 'memory.high': `${high}` } : reserved;
}

const HUGE_PAGES = 'hugepages-';
const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Of every page size of the node; what neither pod nor container limits is 0. */
function hugePageLimits(pod: Pod, container: Container, { hugePageSizes }: LimitingNode): Readonly<Record<string, number>> {
  const ofPod = hasPodLevelResources(pod) ? pod.spec.resources?.limits : undefined;
  const found = new Map<string, number>();
  for (const [name, amount] of [...Object.entries(ofPod ?? {}), ...Object.entries(container.resources?.limits ?? {})]) {
    const size = name.startsWith(HUGE_PAGES) ? cgroupSize(name.slice(HUGE_PAGES.length)) : undefined;
    if (size !== undefined) found.set(size, Number(Quantity.fromJson(amount).value()));
  }
  return Object.fromEntries(hugePageSizes.map((size) => [size, found.get(size) ?? 0]));
}

/** "2Mi" as cgroups name it: "2MB". Undefined: no size. */
function cgroupSize(text: string): string | undefined {
  try {
    let size = Number(Quantity.parse(text).value());
    let unit = 0;
    for (; size >= 1024 && size % 1024 === 0 && unit < units.length - 1; unit++) size /= 1024;
    return `${size}${units[unit]}`;
  } catch {
    return undefined;
  }
}
