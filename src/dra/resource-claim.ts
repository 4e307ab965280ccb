import type { ResourceV1ResourceClaim, V1PodResourceClaim } from '@kubernetes/client-node';
import type { Container, Pod } from '../model/pod.ts';
import type { Wire } from '../model/wire.ts';

export type ResourceClaim = Wire<ResourceV1ResourceClaim>;

/** A claim by its name, and whether it must have been made for the pod. */
export interface NamedClaim {
  readonly name: string;
  readonly isOwn: boolean;
}

/** What of a claim a container uses; an empty request: all of it. */
export interface UsedClaim {
  readonly name: string;
  readonly request: string;
}

export const hasClaims = ({ spec, status }: Pick<Pod, 'spec' | 'status'>): boolean =>
  (spec.resourceClaims ?? []).length > 0 || status?.extendedResourceClaimStatus !== undefined;

/**
 * The pod's claims, each once. Of one that a template makes its name is in the pod's status. Throws in the kubelet's words where it is not yet
 * (k8s.io/dynamic-resource-allocation/resourceclaim Name).
 */
export function claimsOf(pod: Pod): readonly NamedClaim[] {
  const named = (pod.spec.resourceClaims ?? []).map((each) => nameOf(pod, each)).filter((each) => each !== undefined);
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  const all = extended ? [...named, { name: extended, isOwn: false }] : named;
  return [...new Map(all.map((each) => [each.name, each])).values()];
}

/** Undefined: the pod needs no claim for it. */
function nameOf(pod: Pod, { name, resourceClaimName, resourceClaimTemplateName }: Wire<V1PodResourceClaim>): NamedClaim | undefined {
  const { namespace } = pod.metadata;
  if (resourceClaimName !== undefined) return { name: resourceClaimName, isOwn: false };
  if (resourceClaimTemplateName === undefined)
    throw new Error(`pod "${namespace}/${pod.metadata.name}", spec.resourceClaim "${name}": none of the supported fields are set`);
  const made = pod.status?.resourceClaimStatuses?.find((each) => each.name === name);
  if (made === undefined) throw new Error(`pod "${namespace}/${pod.metadata.name}": ResourceClaim not created yet`);
  return made.resourceClaimName === undefined ? undefined : { name: made.resourceClaimName, isOwn: true };
}

/** The claim that the pod calls by this name; undefined: there is none, or not yet. */
export function claimNamed(pod: Pod, name: string): string | undefined {
  const claim = pod.spec.resourceClaims?.find((each) => each.name === name);
  return claim?.resourceClaimName ?? pod.status?.resourceClaimStatuses?.find((each) => each.name === name)?.resourceClaimName;
}

/** Throws as `claimsOf`. */
export function claimsUsedBy(pod: Pod, { name, resources }: Container): readonly UsedClaim[] {
  const used = (resources?.claims ?? []).flatMap((each) => {
    const claim = pod.spec.resourceClaims?.find((of) => of.name === each.name);
    const named = claim && nameOf(pod, claim);
    return named ? [{ name: named.name, request: each.request ?? '' }] : [];
  });
  const extended = pod.status?.extendedResourceClaimStatus;
  if (extended === undefined) return used;
  const mapped = extended.requestMappings.filter(({ containerName }) => containerName === name);
  return [...used, ...mapped.map(({ requestName }) => ({ name: extended.resourceClaimName, request: requestName }))];
}

/** The drivers that the claim's devices are of. Throws in the kubelet's words where the pod may not use it, or nothing is allocated to it. */
export function driversFor(pod: Pod, claim: ResourceClaim, { isOwn }: NamedClaim): readonly string[] {
  const { uid } = pod.metadata;
  const { name, namespace, uid: claimUid, ownerReferences = [] } = claim.metadata ?? {};
  if (isOwn && !ownerReferences.some((owner) => owner.controller === true && owner.uid === uid)) {
    const which = `${pod.metadata.namespace}/${pod.metadata.name}`;
    throw new Error(`ResourceClaim ${namespace}/${name} was not created for pod ${which} (pod is not owner)`);
  }
  if (!(claim.status?.reservedFor ?? []).some((consumer) => consumer.uid === uid))
    throw new Error(`pod ${pod.metadata.name} (${uid}) is not allowed to use ResourceClaim ${name} (${claimUid})`);
  if (claim.status?.allocation === undefined) throw new Error(`ResourceClaim ${name}: not allocated`);
  return [...new Set((claim.status.allocation.devices?.results ?? []).map(({ driver }) => driver))];
}
