import type { PodRefusal } from '../model/pod-admission.ts';
import type { Pod } from '../model/pod.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';

/**
 * Dynamic resource allocation: what is allocated to a pod's ResourceClaims is prepared by the drivers whose plugins register on this node, and
 * the containers that use it get it by its CDI names. Without an API server there are no claims, and nothing of this is loaded.
 */
export async function capability(node: NodeParts): Promise<Contribution> {
  if (node.cluster.exists && !node.options.runOnce) return (await import('./open-claims.ts')).openClaims(node);
  return {
    pod: { admit: async (pod) => withoutClaims(pod), wouldAdmit: async (pod) => withoutClaims(pod) },
    // As a kubelet without an API server: dashboards tell none from not known.
    metricTexts: [async () => (await import('./claims-in-use.ts')).claimsInUseText({ all: 0, byDriver: new Map() })],
  };
}

const withoutClaims = ({ spec }: Pod): PodRefusal | undefined =>
  (spec.resourceClaims ?? []).length > 0
    ? { reason: 'ResourceClaimsNotSupported', message: 'resource claims are not supported in this node (spec.resourceClaims)' }
    : undefined;
