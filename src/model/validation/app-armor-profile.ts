import type { V1AppArmorProfile } from '@kubernetes/client-node';
import { trimSpace } from '../go-text.ts';
import type { FieldErrors } from './field-error.ts';
import type { Given, ObjectMeta, PodSpec } from './given.ts';

type AppArmorProfile = Given<V1AppArmorProfile>;

const types: readonly string[] = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const maxNameBytes = 4095;
const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** Of a pod or a container (ValidateAppArmorProfileField in pkg/apis/core/validation). */
export function validateAppArmorProfile(profile: AppArmorProfile | undefined, at: string, errors: FieldErrors): void {
  if (profile === undefined) return;
  const { type = '', localhostProfile: name } = profile;
  const here = `${at}.localhostProfile`;
  if (type === '') errors.required(`${at}.type`, 'type is required when appArmorProfile is set');
  else if (!types.includes(type)) errors.notSupported(`${at}.type`, type, types);
  else if (type !== 'Localhost') {
    if (name !== undefined) errors.invalid(here, name, 'can only be set when AppArmor type is Localhost');
  } else if (name === undefined || name === '') errors.required(here, 'must be set when AppArmor type is Localhost');
  else if (trimSpace(name) !== name) errors.invalid(here, name, 'must not be padded with whitespace');
  else if (Buffer.byteLength(name) > maxNameBytes) errors.tooLong(here, maxNameBytes);
}

/** Where both an annotation and a container's field speak, they must say the same. */
export function validateAppArmorAgreement({ annotations = {} }: ObjectMeta, spec: PodSpec, at: string, errors: FieldErrors): void {
  if (spec.os?.name === 'windows') return;
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [i, { name = '', securityContext }] of (spec[list] ?? []).entries()) {
      const annotation = annotations[`${annotationPrefix}${name}`];
      const field = securityContext?.appArmorProfile;
      if (annotation === undefined || field === undefined) continue;
      const here = `${at}.${list}[${i}].securityContext.appArmorProfile`;
      const asked = typeOf(annotation);
      if (asked !== field.type) errors.forbidden(`${here}.type`, 'apparmor type in annotation and field must match');
      else if (asked === 'Localhost' && annotation !== `localhost/${field.localhostProfile}`) {
        errors.forbidden(`${here}.localhostProfile`, 'apparmor profile in annotation and field must match');
      }
    }
  }
}

function typeOf(annotation: string): string | undefined {
  if (annotation.startsWith('localhost/')) return 'Localhost';
  return annotation === 'runtime/default' ? 'RuntimeDefault' : annotation === 'unconfined' ? 'Unconfined' : undefined;
}
