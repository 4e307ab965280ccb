import type { Container, Pod } from './pod.ts';
import { Quantity } from './quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Amounts = Container['resources'] extends infer R ? (R extends { readonly requests?: infer A } ? A : never) : never;

const computeResources = ['cpu', 'memory'] as const;

/**
 * The pod's quality of service: Guaranteed when every container limits CPU and memory and all requests equal the limits, BestEffort when
 * nothing is asked for. Where the pod as a whole says what it asks for, only that counts. Zero counts as not asked
 * (pkg/apis/core/v1/helper/qos ComputePodQOS). Throws QuantityParseError.
 */
export function podQosClass({ spec }: Pick<Pod, 'spec'>): QosClass {
  const asking = spec.resources ? [spec] : [...spec.containers, ...(spec.initContainers ?? [])];
  const requests = asking.map(({ resources }) => positive(resources?.requests));
  const limits = asking.map(({ resources }) => positive(resources?.limits));
  if ([...requests, ...limits].every(({ size }) => size === 0)) return 'BestEffort';
  const allLimited = limits.every(({ size }) => size === computeResources.length);
  const asked = sum(requests);
  const limited = sum(limits);
  const equal = asked.size === limited.size && [...asked].every(([name, amount]) => limited.get(name)?.cmp(amount) === 0);
  return allLimited && equal ? 'Guaranteed' : 'Burstable';
}

type Sums = ReadonlyMap<string, Quantity>;

function positive(amounts: Amounts | undefined): Sums {
  const found = computeResources.flatMap((name) => {
    const quantity = Quantity.fromJson(amounts?.[name]);
    return quantity.sign() > 0 ? [[name, quantity] as const] : [];
  });
  return new Map(found);
}

function sum(all: readonly Sums[]): Sums {
  const total = new Map<string, Quantity>();
  for (const [name, quantity] of all.flatMap((one) => [...one])) total.set(name, total.get(name)?.add(quantity) ?? quantity);
  return total;
}
