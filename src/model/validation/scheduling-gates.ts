import type { FieldErrors } from './field-error.ts';
import { isQualifiedName } from './formats.ts';
import type { PodSpec } from './given.ts';

/** A pod that waits behind gates has no node yet (validateSchedulingGates in pkg/apis/core/validation). */
export function validateSchedulingGates({ schedulingGates = [], nodeName = '' }: PodSpec, at: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [i, { name = '' }] of schedulingGates.entries()) {
    errors.invalidEach(`${at}.schedulingGates[${i}]`, name, isQualifiedName(name));
    if (seen.has(name)) errors.duplicate(`${at}.schedulingGates[${i}]`, name);
    seen.add(name);
  }
  if (schedulingGates.length > 0 && nodeName !== '') {
    errors.forbidden(`${at}.nodeName`, 'cannot be set until all schedulingGates have been cleared');
  }
}
