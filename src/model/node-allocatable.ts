import { milliCpuToShares } from './cpu-time.ts';
import type { ResourceList } from './node.ts';
import { Quantity } from './quantity.ts';
import { hugePageLimits, type ResourceConfig } from './resource-config.ts';

/** What the options keep from pods. */
export interface Reserved {
  readonly system: ResourceList;
  readonly kube: ResourceList;
  /** What has to stay free before pods are evicted for it, by resource: memory, ephemeral-storage. */
  readonly eviction: ResourceList;
}

const NOTHING = Quantity.zero;
const of = (amounts: ResourceList, name: string): Quantity => Quantity.fromJson(amounts[name]);

/**
 * What pods' cgroups may use together: what has to stay free for evictions counts, or nothing would ever be evicted
 * (pkg/kubelet/cm getNodeAllocatableAbsoluteImpl). Throws QuantityParseError.
 */
export function absoluteAllocatable(capacity: ResourceList, { system, kube }: Omit<Reserved, 'eviction'>): ResourceList {
  const left = Object.entries(capacity).map(([name, text]) => {
    const amount = Quantity.fromJson(text).sub(of(system, name)).sub(of(kube, name));
    return [name, (amount.sign() < 0 ? Quantity.of(0, amount.format) : amount).canonical()];
  });
  return Object.fromEntries(left) as ResourceList;
}

/** What is kept from pods, of what there is at all (GetNodeAllocatableReservation). Throws QuantityParseError. */
export function allocatableReservation(capacity: ResourceList, { system, kube, eviction }: Reserved): ResourceList {
  const kept = Object.keys(capacity).flatMap((name) => {
    const amount = NOTHING.add(of(system, name)).add(of(kube, name)).add(of(eviction, name));
    return amount.isZero() ? [] : [[name, amount.canonical()]];
  });
  return Object.fromEntries(kept) as ResourceList;
}

/** A resource of which more is reserved than there is. */
export interface ReservationFault {
  readonly name: string;
  readonly reserved: string;
  readonly capacity: string;
}

/** validateNodeAllocatable. Throws QuantityParseError. */
export function reservationFaults(capacity: ResourceList, reserved: Reserved): readonly ReservationFault[] {
  return Object.entries(allocatableReservation(capacity, reserved)).flatMap(([name, amount]) => {
    const has = capacity[name] ?? '0';
    return Quantity.fromJson(amount).cmp(Quantity.fromJson(has)) > 0 ? [{ name, reserved: amount, capacity: has }] : [];
  });
}

/** What a cgroup of the node is set to for so much; `compressible`: only what can be short without an end of a process (getCgroupConfigInternal). Throws QuantityParseError. */
export function nodeResourceConfig(amounts: ResourceList, compressible = false): ResourceConfig {
  const cpu = amounts['cpu'];
  const shares = cpu === undefined ? {} : { cpuShares: milliCpuToShares(Quantity.fromJson(cpu).milliValue()) };
  if (compressible) return shares;
  const value = (name: string): number | undefined =>
    amounts[name] === undefined ? undefined : Number(Quantity.fromJson(amounts[name]).value());
  const [memory, pidsLimit] = [value('memory'), value('pid')];
  const all = new Map(Object.entries(amounts).map(([name, text]) => [name, Quantity.fromJson(text)]));
  return {
    ...shares,
    ...(memory !== undefined && { memory }),
    ...(pidsLimit !== undefined && { pidsLimit }),
    hugePageLimit: hugePageLimits(all),
  };
}
