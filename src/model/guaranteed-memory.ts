import { hasPodLevelResources } from './pod-level-resources.ts';
import { isSidecar } from './pod-predicates.ts';
import type { Container, Pod } from './pod.ts';
import { podQosClass } from './qos.ts';
import { Quantity } from './quantity.ts';

/** Bytes by resource: "memory", "hugepages-2Mi". */
export type MemoryAmounts = ReadonlyMap<string, number>;

/**
 * The memory and the huge pages that a container is to have from NUMA nodes chosen for it; empty: it has no say in where its memory comes
 * from. Only containers of Guaranteed pods count, and none of pods that ask for resources as a whole (getRequestedResources in
 * pkg/kubelet/cm/memorymanager; feature gate PodLevelResourceManagers is off). Throws QuantityParseError.
 */
export function guaranteedMemory(pod: Pod, { resources }: Container): MemoryAmounts {
  if (podQosClass(pod) !== 'Guaranteed' || hasPodLevelResources(pod)) return new Map();
  const asked = Object.entries(resources?.requests ?? {}).filter(([name]) => name === 'memory' || name.startsWith('hugepages-'));
  // A kubelet refuses amounts that its short form of numbers cannot hold, such as 1.5Gi; here they count as what they are.
  return new Map(asked.map(([name, text]) => [name, Number(Quantity.fromJson(text).value())]));
}

/** How much its containers have at most at one time (getPodRequestedResources): of what containers ask for that are no init containers. */
export function podGuaranteedMemory(pod: Pod): MemoryAmounts {
  const ofApps = new Map<string, number>();
  const ofSidecars = new Map<string, number>();
  const most = new Map<string, number>();
  const amount = (amounts: MemoryAmounts, name: string): number => amounts.get(name) ?? 0;
  for (const container of pod.spec.initContainers ?? [])
    for (const [name, size] of guaranteedMemory(pod, container))
      if (isSidecar(container)) ofSidecars.set(name, amount(ofSidecars, name) + size);
      else most.set(name, Math.max(amount(most, name), amount(ofSidecars, name) + size));
  for (const container of pod.spec.containers)
    for (const [name, size] of guaranteedMemory(pod, container)) ofApps.set(name, amount(ofApps, name) + size);
  return new Map([...ofApps].map(([name, size]) => [name, Math.max(size + amount(ofSidecars, name), amount(most, name))]));
}
