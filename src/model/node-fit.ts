import { isSidecar } from './pod-predicates.ts';
import type { Pod } from './pod.ts';
import { Quantity } from './quantity.ts';
import { isExtendedResourceName } from './validation/resources.ts';

/** What the node lacks for a pod: millicores of cpu, else whole units. */
export interface InsufficientResource {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

type Amounts = ReadonlyMap<string, bigint>;
type ResourceList = Readonly<Record<string, string>> | undefined;

/**
 * Every resource that the node has too little of, in the kubelet's order: pods, cpu, memory, ephemeral storage, others. An extended
 * resource that the node does not have at all is somebody else's and passed over (PodFitsResources, pkg/kubelet/lifecycle/predicate.go).
 */
export function insufficientResources(
  pod: Pod,
  otherPods: readonly Pod[],
  allocatable: Readonly<Record<string, string>>,
): InsufficientResource[] {
  const capacity = amounts(allocatable);
  const requested = podRequest(pod, (name) => !isExtendedResourceName(name) || capacity.has(name));
  const used = otherPods.map((other) => podRequest(other, () => true));
  const usedOf = (name: string): bigint => used.reduce((sum, other) => sum + (other.get(name) ?? 0n), 0n);
  const asked: (readonly [name: string, requested: bigint, used: bigint])[] = [['pods', 1n, BigInt(otherPods.length)]];
  // A pod that asks for nothing else is not weighed against what the others took.
  if ([...requested].some(([name, amount]) => amount !== 0n || !firstResources.includes(name))) {
    const names = new Set([...firstResources, ...requested.keys()]);
    asked.push(...[...names].map((name) => [name, requested.get(name) ?? 0n, usedOf(name)] as const));
  }
  return asked.flatMap(([resource, wanted, taken]) => {
    const has = capacity.get(resource) ?? 0n;
    return has < wanted + taken ? [{ resource, requested: wanted, used: taken, capacity: has }] : [];
  });
}

const firstResources: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];

/** Of each container rounded up on its own, as the scheduler adds (pkg/scheduler/framework Resource.Add). */
function podRequest({ spec }: Pod, counts: (name: string) => boolean): Amounts {
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
  return sum([total, amounts(spec.overhead, (name) => name !== 'pods' && isScheduled(name))]);
}

function sum(all: readonly Amounts[]): Amounts {
  const total = new Map<string, bigint>();
  for (const [name, amount] of all.flatMap((one) => [...one])) total.set(name, (total.get(name) ?? 0n) + amount);
  return total;
}

function amounts(list: ResourceList, counts: (name: string) => boolean = () => true): Amounts {
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
