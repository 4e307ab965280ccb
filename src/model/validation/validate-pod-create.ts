import type { V1Pod } from '@kubernetes/client-node';
import { validateAppArmorAgreement } from './app-armor-profile.ts';
import type { Given, PodSpec } from './given.ts';
import { FieldErrors, type FieldError } from './field-error.ts';
import { validateImageSpaces } from './image-spaces.ts';
import { validatePodMeta } from './object-meta.ts';
import { validatePodAnnotations } from './pod-annotations.ts';
import { validatePodSpec } from './pod-spec.ts';
import { defaultPodValidationOptions, type PodValidationOptions } from './pod-validation-options.ts';
import { hugePageResources } from './resources.ts';
import { validateSeccompAgreement } from './seccomp.ts';

/**
 * What the API server would say of a new pod: all that is wrong with it, nothing when it is valid. The pod is one that
 * defaultPod returned, with its namespace and node filled in.
 *
 * The rules, paths and words are those of Kubernetes 1.36 (pkg/apis/core/validation ValidatePodCreate).
 */
export function validatePodCreate(pod: Given<V1Pod>, options: Partial<PodValidationOptions> = {}): readonly FieldError[] {
  const errors = new FieldErrors();
  const rules = { ...defaultPodValidationOptions, ...options };
  const { metadata = {}, spec = {} } = pod;
  validatePodMeta(metadata, 'metadata', errors);
  validatePodAnnotations(metadata.annotations ?? {}, spec, 'metadata.annotations', errors);
  validatePodSpec(spec, metadata.name ?? '', 'spec', errors, rules);
  validateTokens(spec, 'spec', errors);
  validateImageSpaces(spec.containers ?? [], 'spec.containers', errors);
  validateImageSpaces(spec.initContainers ?? [], 'spec.initContainers', errors);
  if (!rules.allowMultipleHugePageResources) {
    const sizes = hugePageResources([...(spec.initContainers ?? []), ...(spec.containers ?? [])]);
    if (sizes.length > 1) errors.invalid('spec', sizes, 'must use a single hugepage size in a pod spec');
  }
  if ((spec.ephemeralContainers ?? []).length > 0) errors.forbidden('spec.ephemeralContainers', 'cannot be set on create');
  validateSeccompAgreement(metadata, spec, 'spec', errors);
  validateAppArmorAgreement(metadata, spec, 'spec', errors);
  return errors.all;
}

/** A token has an owner. */
function validateTokens(spec: PodSpec, at: string, errors: FieldErrors): void {
  if ((spec.serviceAccountName ?? '') !== '') return;
  for (const [v, { projected }] of (spec.volumes ?? []).entries()) {
    for (const [s, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      const here = `${at}.volumes[${v}].projected.sources[${s}].serviceAccountToken`;
      errors.forbidden(here, 'must not be specified when serviceAccountName is not set');
    }
  }
}
