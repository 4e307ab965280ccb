import type { FieldErrors } from './field-error.ts';
import { validateLabelName } from './labels.ts';

/** Keys whose values are those of the pod itself; without a selector they would narrow nothing. */
export function validateMatchLabelKeys(keys: readonly string[], hasSelector: boolean, at: string, errors: FieldErrors): void {
  if (keys.length === 0) return;
  if (!hasSelector) {
    errors.forbidden(at, 'must not be specified when labelSelector is not set');
    return;
  }
  for (const [i, key] of keys.entries()) validateLabelName(key, `${at}[${i}]`, errors);
}
