import type { Pod } from '../../src/model/pod.ts';
import type { ResourceClaim } from '../../src/dra/resource-claim.ts';

/** A claim that is allocated, of one device of each of these drivers, and reserved for these pods. */
export function aClaim(name: string, drivers: readonly string[], pods: readonly Pod[], over: Partial<ResourceClaim> = {}): ResourceClaim {
  const results = drivers.map((driver) => ({ request: 'gpu', driver, pool: 'n1', device: `${name}-device` }));
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace: 'default', uid: `uid-of-${name}` },
    spec: {},
    status: {
      allocation: { devices: { results } },
      reservedFor: pods.map(({ metadata }) => ({ resource: 'pods', name: metadata.name, uid: metadata.uid })),
    },
    ...over,
  };
}
