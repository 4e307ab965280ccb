import type { V1PodResourceClaim, V1ResourceRequirements } from '@kubernetes/client-node';
import { validateDns1123Label, validateDns1123Subdomain } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import type { Given } from './given.ts';

type PodClaim = Given<V1PodResourceClaim>;
type UsedClaim = NonNullable<Given<V1ResourceRequirements>['claims']>[number];

/** Reports what is wrong and returns the names that containers may use (validatePodResourceClaims in pkg/apis/core/validation). */
export function validateResourceClaims(claims: readonly PodClaim[], at: string, errors: FieldErrors): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [i, { name = '', resourceClaimName, resourceClaimTemplateName }] of claims.entries()) {
    const here = `${at}[${i}]`;
    if (name === '') errors.required(`${here}.name`);
    else if (names.has(name)) errors.duplicate(`${here}.name`, name);
    else {
      validateDns1123Label(name, `${here}.name`, errors);
      names.add(name);
    }
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      errors.invalid(here, claims[i], 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified');
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      errors.invalid(here, claims[i], 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
    }
    for (const [field, value] of Object.entries({ resourceClaimName, resourceClaimTemplateName })) {
      if (value !== undefined) validateDns1123Subdomain(value, `${here}.${field}`, errors);
    }
  }
  return names;
}

/** What a container uses of the pod's claims, each once: as a whole, or its requests. */
export function validateUsedClaims(used: readonly UsedClaim[], ofPod: ReadonlySet<string>, at: string, errors: FieldErrors): void {
  const seen = new Map<string, Set<string>>();
  for (const [i, { name = '', request = '' }] of used.entries()) {
    const here = `${at}[${i}]`;
    if (name === '') {
      errors.required(here);
      continue;
    }
    const requests = seen.get(name) ?? new Set<string>();
    if (requests.has(request) || requests.has('') || (request === '' && requests.size > 0)) errors.duplicate(here, name);
    seen.set(name, requests.add(request));
    if (ofPod.has(name)) continue;
    const which = ofPod.size === 0 ? ' which is empty' : `: ${[...ofPod].toSorted().join(', ')}`;
    errors.notFound(here, name, `must be one of the names in pod.spec.resourceClaims${which}`);
  }
}
