import type { V1ISCSIVolumeSource } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { requireFields } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { mustBeBetween } from './formats.ts';

/** Qualified names by their first three letters (RFC 3720, RFC 3980). */
const forms: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.[0-9A-Za-z\-.]+:[^,;*&$|\t\n\f\r ]+$/,
  eui: /^eui.[0-9A-Za-z]{16}$/,
  naa: /^naa.[0-9A-Za-z]{32}$/,
};

/** RFC 3720, 3.2.6.1 */
const MAX_NAME_LENGTH = 223;

function validateQualifiedName(name: string, at: string, errors: FieldErrors): void {
  const form = forms[name.slice(0, 3)];
  if (form === undefined) errors.invalid(at, name, 'must be valid format starting with iqn, eui, or naa');
  else if (name.length > MAX_NAME_LENGTH) errors.tooLong(at, MAX_NAME_LENGTH);
  else if (!form.test(name)) errors.invalid(at, name, 'must be valid format');
}

export function validateIscsi(iscsi: Given<V1ISCSIVolumeSource>, at: string, errors: FieldErrors): void {
  const { iqn = '', lun = 0, initiatorName } = iscsi;
  requireFields(iscsi, at, errors, 'targetPortal', 'iqn');
  if (iqn !== '') validateQualifiedName(iqn, `${at}.iqn`, errors);
  if (lun < 0 || lun > 255) errors.invalid(`${at}.lun`, lun, mustBeBetween(0, 255));
  if ((iscsi.chapAuthDiscovery === true || iscsi.chapAuthSession === true) && iscsi.secretRef === undefined) {
    errors.required(`${at}.secretRef`);
  }
  if (initiatorName !== undefined) validateQualifiedName(initiatorName, `${at}.initiatorname`, errors);
}
