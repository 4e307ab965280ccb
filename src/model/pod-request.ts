import { isPodLevelResource } from './pod-level-resources.ts';
import { isSidecar } from './pod-predicates.ts';
import type { Pod } from './pod.ts';
import { Quantity } from './quantity.ts';
import { isExtendedResourceName } from './validation/resources.ts';

/** By resource: millicores of cpu, else whole units. */
export type Amounts = ReadonlyMap<string, bigint>;
type ResourceList = Readonly<Record<string, string>> | undefined;

/** The scheduler's first resources. */
export const firstResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** What a pod asks for: of each container rounded up on its own, as the scheduler adds (pkg/scheduler/framework Resource.Add). `counts` is for app containers. */
export function podRequest({ spec }: Pod, counts: (name: string) => boolean): Amounts {
  const inApp = (list: ResourceList): Amounts => amounts(list, (name) => name !== 'pods' && isScheduled(name) && counts(name));
  const sidecars: Amounts[] = [];
  const starting: Amounts[] = [];
  for (const container of spec.initContainers ?? []) {
    const own = amounts(container.resources?.requests, (name) => name !== 'pods' && isScheduled(name));
    if (isSidecar(container)) sidecars.push(own);
    else starting.push(sum([own, ...sidecars]));
  }
  const total = new Map(sum([...spec.containers.map(({ resources }) => inApp(resources?.requests)), ...sidecars]));
  for (const [name, amount] of starting.flatMap((one) => [...one])) {
    if (amount > (total.get(name) ?? 0n)) total.set(name, amount);
  }
  // What the pod as a whole asks for takes the place of what its containers do.
  for (const [name, amount] of amounts(spec.resources?.requests, isPodLevelResource)) total.set(name, amount);
  return sum([total, amounts(spec.overhead, (name) => name !== 'pods' && isScheduled(name))]);
}

function sum(all: readonly Amounts[]): Amounts {
  const total = new Map<string, bigint>();
  for (const [name, amount] of all.flatMap((one) => [...one])) total.set(name, (total.get(name) ?? 0n) + amount);
  return total;
}

/** Of the resources that count. */
export function amounts(list: ResourceList, counts: (name: string) => boolean = () => true): Amounts {
  const counted = Object.entries(list ?? {}).filter(([name]) => counts(name));
  return new Map(
    counted.map(([name, text]) => {
      const quantity = Quantity.fromJson(text);
      return [name, name === 'cpu' ? quantity.milliValue() : quantity.value()] as const;
    }),
  );
}

/** What the scheduler keeps count of (pkg/scheduler/util IsScalarResourceName). */
function isScheduled(name: string): boolean {
  return (
    firstResources.includes(name) ||
    isExtendedResourceName(name) ||
    name.startsWith('hugepages-') ||
    name.includes('kubernetes.io/') ||
    name.startsWith('attachable-volumes-')
  );
}
