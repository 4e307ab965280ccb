import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import { isLabelValue, isQualifiedName } from './formats.ts';

export type StringMap = Readonly<Record<string, string>>;

export function validateLabelName(name: string, at: string, errors: FieldErrors): void {
  errors.invalidEach(at, name, isQualifiedName(name));
}

export function validateLabels(labels: StringMap | undefined, at: string, errors: FieldErrors): void {
  for (const [key, value] of Object.entries(labels ?? {})) {
    validateLabelName(key, at, errors);
    errors.invalidEach(at, value, isLabelValue(value));
  }
}

export function validateLabelSelector(selector: Given<V1LabelSelector> | undefined, at: string, errors: FieldErrors): void {
  if (selector === undefined) return;
  validateLabels(selector.matchLabels, `${at}.matchLabels`, errors);
  for (const [i, { key, operator, values }] of (selector.matchExpressions ?? []).entries()) {
    const here = `${at}.matchExpressions[${i}]`;
    validateValueCount(operator ?? '', values ?? [], here, errors, false);
    validateLabelName(key ?? '', `${here}.key`, errors);
  }
}

/** What an operator asks of its values; Gt and Lt are for nodes only. */
export function validateValueCount(operator: string, values: readonly string[], at: string, errors: FieldErrors, ofNodes: boolean): void {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) errors.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) errors.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      return;
    case 'Gt':
    case 'Lt':
      if (ofNodes) {
        if (values.length !== 1) errors.required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
        return;
      }
  }
  errors.invalid(`${at}.operator`, operator, 'not a valid selector operator');
}
