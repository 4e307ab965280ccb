import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, Pod } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';

/** How many of each resource that `isOfPlugins` the container is to have. Requests of such are the same as limits. */
export function deviceRequests({ resources }: Container, isOfPlugins: (name: string) => boolean): ReadonlyMap<string, number> {
  const asked = Object.entries(resources?.limits ?? {}).filter(([name]) => isOfPlugins(name));
  const counts = asked.map(([name, text]) => [name, Number(Quantity.fromJson(text).value())] as const);
  return new Map(counts.filter(([, count]) => count > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** How many its containers have at most at one time. */
export function podDeviceRequests({ spec }: Pod, isOfPlugins: (name: string) => boolean): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  const running = new Map<string, number>();
  const add = (to: Map<string, number>, from: ReadonlyMap<string, number>): void => {
    for (const [name, count] of from) to.set(name, (to.get(name) ?? 0) + count);
  };
  const atLeast = (counts: ReadonlyMap<string, number>): void => {
    for (const [name, count] of counts) most.set(name, Math.max(most.get(name) ?? 0, count));
  };
  for (const container of spec.initContainers ?? []) {
    const asked = deviceRequests(container, isOfPlugins);
    if (isSidecar(container)) add(running, asked);
    else {
      const beside = new Map(running);
      add(beside, asked);
      atLeast(beside);
    }
  }
  for (const container of spec.containers) add(running, deviceRequests(container, isOfPlugins));
  atLeast(running);
  return most;
}
