import type { NodeUse } from './node-use.ts';
import { amounts, firstResources, podRequest } from './pod-request.ts';
import type { Pod } from './pod.ts';
import { isExtendedResourceName } from './validation/resources.ts';

/** What the node lacks for a pod: millicores of cpu, else whole units. */
export interface InsufficientResource {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/**
 * Every resource that the node has too little of, in the kubelet's order: pods, cpu, memory, ephemeral storage, others. An extended
 * resource that the node does not have at all is another's and passed over (PodFitsResources, pkg/kubelet/lifecycle/predicate.go).
 */
export function insufficientResources(pod: Pod, others: NodeUse, allocatable: Readonly<Record<string, string>>): InsufficientResource[] {
  const capacity = amounts(allocatable);
  const requested = podRequest(pod, (name) => !isExtendedResourceName(name) || capacity.has(name));
  const asked: (readonly [name: string, requested: bigint, used: bigint])[] = [['pods', 1n, BigInt(others.size)]];
  // A pod that asks for nothing else is not weighed against what the others took.
  if ([...requested].some(([name, amount]) => amount !== 0n || !firstResources.includes(name))) {
    const names = new Set([...firstResources, ...requested.keys()]);
    asked.push(...[...names].map((name) => [name, requested.get(name) ?? 0n, others.usedOf(name)] as const));
  }
  return asked.flatMap(([resource, wanted, taken]) => {
    const has = capacity.get(resource) ?? 0n;
    return has < wanted + taken ? [{ resource, requested: wanted, used: taken, capacity: has }] : [];
  });
}
