import { MIN_SHARES, milliCpuToShares } from './cpu-time.ts';
import { podRequests } from './pod-resources.ts';
import type { Pod } from './pod.ts';
import { podQosClass, type QosClass } from './qos.ts';
import type { MemoryReservationPolicy, ResourceConfig } from './resource-config.ts';

export interface QosLimiting {
  /** As for pods. */
  readonly memoryQos?: MemoryReservationPolicy | undefined;
  /** How much of what a class asks for is kept from the classes below it (qosReserved), in percent; undefined: nothing is. */
  readonly memoryReserve?: number | undefined;
  /** Of the node, in bytes; undefined or 0: not known. */
  readonly allocatableMemory?: number | undefined;
}

/** What one pod asks for. */
export interface QosShare {
  /** As the API server says it, where it does. */
  readonly qos: string;
  readonly milliCpu: bigint;
  readonly memory: bigint;
}

/** Throws QuantityParseError. */
export function qosShare(pod: Pod): QosShare {
  const requests = podRequests(pod);
  const qos = pod.status?.qosClass || podQosClass(pod);
  return { qos, milliCpu: requests.get('cpu')?.milliValue() ?? 0n, memory: requests.get('memory')?.value() ?? 0n };
}

/** What the cgroup of each class is set to for the pods that are in it (pkg/kubelet/cm UpdateCgroups). */
export function qosResourceConfigs(pods: Iterable<QosShare>, limiting: QosLimiting = {}): Readonly<Record<QosClass, ResourceConfig>> {
  let milliCpu = 0n;
  const memory = { Guaranteed: 0n, Burstable: 0n };
  for (const share of pods) {
    const { qos } = share;
    if (qos !== 'Guaranteed' && qos !== 'Burstable') continue;
    if (qos === 'Burstable') milliCpu += share.milliCpu;
    memory[qos] += share.memory;
  }
  const most = memoryLimits(memory, limiting);
  const kept = reservations(memory, limiting.memoryQos);
  return {
    Guaranteed: { ...kept?.Guaranteed },
    Burstable: { cpuShares: milliCpuToShares(milliCpu), ...most?.Burstable, ...kept?.Burstable },
    BestEffort: { cpuShares: MIN_SHARES, ...most?.BestEffort },
  };
}

type MemoryRequests = Readonly<Record<'Guaranteed' | 'Burstable', bigint>>;
type Configs = Readonly<Partial<Record<QosClass, ResourceConfig>>>;

/** setMemoryReserve */
function memoryLimits({ Guaranteed, Burstable }: MemoryRequests, limiting: QosLimiting): Configs | undefined {
  const { memoryReserve, allocatableMemory = 0 } = limiting;
  if (memoryReserve === undefined || allocatableMemory === 0) return undefined;
  const percent = BigInt(memoryReserve);
  const burstable = BigInt(allocatableMemory) - (Guaranteed * percent) / 100n;
  const bestEffort = burstable - (Burstable * percent) / 100n;
  return { Burstable: { memory: Number(burstable) }, BestEffort: { memory: Number(bestEffort) } };
}

/** A parent's protection has to cover its children's (setMemoryQoS). */
function reservations({ Guaranteed, Burstable }: MemoryRequests, policy: MemoryReservationPolicy | undefined): Configs | undefined {
  if (policy === undefined) return undefined;
  const tiered = policy === 'TieredReservation';
  return {
    Guaranteed: { unified: { 'memory.min': `${tiered ? Guaranteed + Burstable : 0n}` } },
    Burstable: { unified: { 'memory.low': `${tiered ? Burstable : 0n}` } },
  };
}
