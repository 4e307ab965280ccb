import type { V1Toleration } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import { isLabelValue } from './formats.ts';
import { validateLabelName } from './labels.ts';

export type Toleration = Given<V1Toleration>;

const effects: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateTolerations(tolerations: readonly Toleration[], at: string, errors: FieldErrors): void {
  for (const [i, toleration] of tolerations.entries()) {
    const here = `${at}[${i}]`;
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    if (key !== '') validateLabelName(key, `${here}.key`, errors);
    else if (operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(`${here}.operator`, operator, why);
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      errors.invalid(`${here}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    if (operator === 'Exists') {
      if (value !== '') errors.invalid(`${here}.operator`, toleration, "value must be empty when `operator` is 'Exists'");
    } else if (operator === 'Equal' || operator === '') {
      const wrong = isLabelValue(value);
      if (wrong.length > 0) errors.invalid(`${here}.operator`, value, wrong.join(';'));
    } else errors.notSupported(`${here}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt']);
    if (effect !== '' && !effects.includes(effect)) errors.notSupported(`${here}.effect`, effect, effects);
  }
}
