import type { V1SeccompProfile } from '@kubernetes/client-node';
import type { Given, ObjectMeta, PodSpec } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import type { StringMap } from './labels.ts';
import { validateLocalDescendingPath } from './paths.ts';

export type SeccompProfile = Given<V1SeccompProfile>;

const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
const containerAnnotationPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
const localhostPrefix = 'localhost/';
const runtimeDefaults: readonly string[] = ['runtime/default', 'docker/default'];

export function validateSeccompProfile(profile: SeccompProfile | undefined, at: string, errors: FieldErrors): void {
  if (profile === undefined) return;
  const { type = '', localhostProfile } = profile;
  if (type === '') errors.required(`${at}.type`, 'type is required when seccompProfile is set');
  else if (type !== 'Localhost' && type !== 'RuntimeDefault' && type !== 'Unconfined') {
    errors.notSupported(`${at}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']);
  }
  const here = `${at}.localhostProfile`;
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined) errors.invalid(here, profile, 'can only be set when seccomp type is Localhost');
  } else if (localhostProfile === undefined) errors.required(here, 'must be set when seccomp type is Localhost');
  else validateLocalDescendingPath(localhostProfile, here, errors);
}

/** The annotations that came before the fields. */
export function validateSeccompAnnotations(annotations: StringMap, at: string, errors: FieldErrors): void {
  for (const [key, profile] of Object.entries(annotations)) {
    if (key !== podAnnotation && !key.startsWith(containerAnnotationPrefix)) continue;
    if (profile === 'unconfined' || runtimeDefaults.includes(profile)) continue;
    if (profile.startsWith(localhostPrefix)) validateLocalDescendingPath(profile.slice(localhostPrefix.length), `${at}.${key}`, errors);
    else errors.invalid(`${at}.${key}`, profile, 'must be a valid seccomp profile');
  }
}

/** Where both an annotation and a field speak, they must say the same. */
export function validateSeccompAgreement({ annotations = {} }: ObjectMeta, spec: PodSpec, at: string, errors: FieldErrors): void {
  validateAgrees(annotations[podAnnotation], spec.securityContext?.seccompProfile, `${at}.securityContext`, errors);
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [i, { name, securityContext }] of (spec[list] ?? []).entries()) {
      const annotation = annotations[`${containerAnnotationPrefix}${name}`];
      validateAgrees(annotation, securityContext?.seccompProfile, `${at}.${list}[${i}].securityContext`, errors);
    }
  }
}

function validateAgrees(annotation: string | undefined, field: SeccompProfile | undefined, at: string, errors: FieldErrors): void {
  if (annotation === undefined || field === undefined) return;
  const here = `${at}.seccompProfile`;
  const typesAgree =
    field.type === 'Unconfined'
      ? annotation === 'unconfined'
      : field.type === 'RuntimeDefault'
        ? runtimeDefaults.includes(annotation)
        : field.type !== 'Localhost' || annotation.startsWith(localhostPrefix);
  if (!typesAgree) errors.forbidden(`${here}.type`, 'seccomp type in annotation and field must match');
  else if (field.type === 'Localhost' && annotation.slice(localhostPrefix.length) !== field.localhostProfile) {
    errors.forbidden(`${here}.localhostProfile`, 'seccomp profile in annotation and field must match');
  }
}
