import { quote } from '../go-text.ts';
import type { PodSpec } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import type { StringMap } from './labels.ts';
import { validateSeccompAnnotations } from './seccomp.ts';
import { readTolerationsAnnotation } from './tolerations-annotation.ts';
import { validateTolerations } from './tolerations.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations';
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';

/** The annotations that mean something to Kubernetes. */
export function validatePodAnnotations(annotations: StringMap, spec: PodSpec, at: string, errors: FieldErrors): void {
  const mirror = annotations[mirrorAnnotation];
  if (mirror !== undefined && (spec.nodeName ?? '') === '') {
    errors.invalid(`${at}[${mirrorAnnotation}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set');
  }
  const tolerations = annotations[tolerationsAnnotation];
  if (tolerations !== undefined && tolerations !== '') {
    const read = readTolerationsAnnotation(tolerations);
    if (typeof read === 'string') errors.invalid(at, tolerationsAnnotation, read);
    else validateTolerations(read, `${at}.${tolerationsAnnotation}`, errors);
  }
  validateSeccompAnnotations(annotations, at, errors);
  validateAppArmorAnnotations(annotations, spec, at, errors);
}

function validateAppArmorAnnotations(annotations: StringMap, spec: PodSpec, at: string, errors: FieldErrors): void {
  for (const [key, profile] of Object.entries(annotations)) {
    if (!key.startsWith(appArmorPrefix)) continue;
    const containerName = key.slice(appArmorPrefix.length);
    const isHere = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ name }) => name === containerName);
    if (!isHere) errors.invalid(`${at}[${key}]`, containerName, 'container not found');
    const isKnown = profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/');
    if (!isKnown) errors.invalid(`${at}[${key}]`, profile, `invalid AppArmor profile name: ${quote(profile)}`);
  }
}
