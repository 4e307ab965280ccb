import { containerTotal } from '../pod-resources.ts';
import { isPodLevelResource } from '../pod-level-resources.ts';
import type { Pod } from '../pod.ts';
import type { FieldErrors } from './field-error.ts';
import { isQualifiedName } from './formats.ts';
import type { PodSpec } from './given.ts';
import { validateUsedClaims } from './resource-claims.ts';
import { isStandardResource, readQuantity, validateResourceRequirements } from './resources.ts';

/** What a pod asks for as a whole, beside what its containers do (validatePodResources in pkg/apis/core/validation). */
export function validatePodResources(spec: PodSpec, at: string, errors: FieldErrors): void {
  const { resources } = spec;
  if (resources === undefined) return;
  if (spec.os?.name === 'windows') {
    errors.forbidden(at, 'may not be set for a windows pod');
    return;
  }
  if (resources.claims !== undefined && resources.claims.length > 0) {
    errors.forbidden(`${at}.claims`, 'claims may not be set for Resources at pod-level');
    validateUsedClaims(resources.claims, new Set((spec.resourceClaims ?? []).map(({ name = '' }) => name)), `${at}.claims`, errors);
  }
  validateResourceRequirements(resources, at, errors, validatePodResourceName);
  if (allAreQuantities(spec)) validateAgainstContainers(spec, at, errors);
}

function validatePodResourceName(name: string, at: string, errors: FieldErrors): void {
  const malformed = isQualifiedName(name);
  errors.invalidEach(at, name, malformed);
  if (malformed.length > 0 || isPodLevelResource(name)) return;
  if (!name.includes('/') && !isStandardResource(name)) errors.invalid(at, name, 'must be a standard resource type or fully qualified');
  else errors.notSupported(at, name, ['cpu', 'hugepages-', 'memory']);
}

/** The pod's requests hold those of its containers together, and its limits those of each. */
function validateAgainstContainers(spec: PodSpec, at: string, errors: FieldErrors): void {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  // Of a pod only the containers' amounts are read, and these are quantities.
  const pod = { spec: { ...spec, containers: spec.containers ?? [] } } as Pick<Pod, 'spec'>;
  for (const [list, given] of Object.entries({ requests, limits }) as ['requests' | 'limits', typeof requests][]) {
    const total = containerTotal(pod, list);
    for (const [name, text] of Object.entries(given)) {
      // Containers together may have higher limits than the pod, but for what is set aside for them.
      if (!isPodLevelResource(name) || (list === 'limits' && !name.startsWith('hugepages-'))) continue;
      const [amount, sum] = [readQuantity(text), total.get(name)];
      if (amount === undefined || sum === undefined || amount.cmp(sum) >= 0) continue;
      errors.invalid(`${at}.${list}[${name}]`, text, `must be greater than or equal to aggregate container ${list} of ${sum.canonical()}`);
    }
  }
  for (const kind of ['containers', 'initContainers'] as const) {
    for (const [i, container] of (spec[kind] ?? []).entries()) {
      for (const [name, text] of Object.entries(container.resources?.limits ?? {})) {
        const [own, ofPod] = [readQuantity(text), readQuantity(limits[name] ?? '')];
        if (own === undefined || ofPod === undefined || !isPodLevelResource(name) || own.cmp(ofPod) <= 0) continue;
        errors.invalid(`${at}.${kind}[${i}][${name}].limits`, text, `must be less than or equal to pod limits of ${ofPod.canonical()}`);
      }
    }
  }
}

/** What is none is reported where it is. */
function allAreQuantities({ containers = [], initContainers = [] }: PodSpec): boolean {
  return [...containers, ...initContainers].every(({ resources }) =>
    [...Object.values(resources?.requests ?? {}), ...Object.values(resources?.limits ?? {})].every(
      (text) => readQuantity(text) !== undefined,
    ),
  );
}
