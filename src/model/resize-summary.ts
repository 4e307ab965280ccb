import type { Container, Pod, PodSpec } from './pod.ts';
import { Quantity } from './quantity.ts';

type Amounts = NonNullable<PodSpec['resources']>['limits'];

/** What events say of a resize, as Go writes it (pkg/kubelet/events makeResourceSummaryFromSpec). */
export function resizeSummary({ spec }: Pick<Pod, 'spec'>, generation: number, error?: string): string {
  return JSON.stringify({
    initContainers: listed(spec.initContainers),
    containers: listed(spec.containers),
    generation,
    error: error || undefined,
  });
}

function listed(containers: readonly Container[] = []): object | undefined {
  if (containers.length === 0) return undefined;
  return containers.map(({ name, resources = {} }) => ({
    name,
    resources: { limits: sorted(resources.limits), requests: sorted(resources.requests), claims: resources.claims },
  }));
}

function sorted(amounts: Amounts): Amounts {
  const written = Object.entries(amounts ?? {}).map(([name, amount]) => [name, Quantity.fromJson(amount).canonical()] as const);
  return written.length === 0 ? undefined : Object.fromEntries(written.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
