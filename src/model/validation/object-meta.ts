import type { V1ManagedFieldsEntry, V1OwnerReference } from '@kubernetes/client-node';
import { toLower } from '../go-text.ts';
import type { Given, ObjectMeta } from './given.ts';
import { validateNonNegative } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { asPrefix, isDns1035Label, isDns1123Label, isDns1123Subdomain, isQualifiedName } from './formats.ts';
import { validateLabels, type StringMap } from './labels.ts';

const maxAnnotationBytes = 256 * 1024;
const maxManagerBytes = 128;
const standardFinalizers: ReadonlySet<string> = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** metadata of a pod: its name is a DNS subdomain and its namespace is required (apimachinery api/validation/objectmeta.go). */
export function validatePodMeta(meta: ObjectMeta, at: string, errors: FieldErrors): void {
  const { name = '', namespace = '', generateName = '' } = meta;
  if (generateName !== '') errors.invalidEach(`${at}.generateName`, generateName, asPrefix(isDns1123Subdomain)(generateName));
  if (name === '') errors.required(`${at}.name`, 'name or generateName is required');
  else errors.invalidEach(`${at}.name`, name, isDns1123Subdomain(name));
  if (namespace === '') errors.required(`${at}.namespace`);
  else errors.invalidEach(`${at}.namespace`, namespace, isDns1123Label(namespace));
  validateClusterName(meta, at, errors);
  validateNonNegative(meta.generation, `${at}.generation`, errors);
  validateLabels(meta.labels, `${at}.labels`, errors);
  validateAnnotations(meta.annotations, `${at}.annotations`, errors);
  validateOwnerReferences(meta.ownerReferences ?? [], `${at}.ownerReferences`, errors);
  validateFinalizers(meta.finalizers ?? [], `${at}.finalizers`, errors);
  for (const entry of meta.managedFields ?? []) validateManagedFields(entry, at, errors);
}

/** The field left the API after 1.24 and its type with it. */
function validateClusterName(meta: ObjectMeta & { readonly clusterName?: unknown }, at: string, errors: FieldErrors): void {
  const { clusterName } = meta;
  if (typeof clusterName === 'string' && clusterName !== '') {
    errors.invalidEach(`${at}.clusterName`, clusterName, isDns1035Label(clusterName));
  }
}

export function validateAnnotations(annotations: StringMap | undefined, at: string, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    errors.invalidEach(at, key, isQualifiedName(toLower(key)));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes) errors.tooLong(at, maxAnnotationBytes);
}

/** `group/version`, the group empty for the core API. More than one slash is no version at all. */
function splitApiVersion(apiVersion: string): readonly [group: string, version: string] {
  const parts = apiVersion.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) return ['', ''];
  return second === undefined ? ['', first] : [first, second];
}

function validateOwnerReferences(references: readonly Given<V1OwnerReference>[], at: string, errors: FieldErrors): void {
  let controllerName = '';
  for (const reference of references) {
    const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
    const [group, version] = splitApiVersion(apiVersion);
    if (version === '') errors.invalid(`${at}.apiVersion`, apiVersion, 'version must not be empty');
    for (const [field, value] of Object.entries({ kind, name, uid })) {
      if (value === '') errors.invalid(`${at}.${field}`, value, 'must not be empty');
    }
    if (group === '' && version === 'v1' && kind === 'Event') {
      errors.invalid(at, reference, '/v1, Kind=Event is disallowed from being an owner');
    }
    if (reference.controller !== true) continue;
    const controller = `${kind}/${name}`;
    if (controllerName === '') controllerName = controller;
    else {
      const found = `Found "true" in references for ${controllerName} and ${controller}`;
      errors.invalid(at, references, `Only one reference can have Controller set to true. ${found}`);
    }
  }
}

function validateFinalizers(finalizers: readonly string[], at: string, errors: FieldErrors): void {
  for (const [i, finalizer] of finalizers.entries()) {
    errors.invalidEach(at, finalizer, isQualifiedName(finalizer));
    if (!finalizer.includes('/') && !standardFinalizers.has(finalizer)) {
      errors.invalid(`${at}[${i}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified');
    }
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.invalid(at, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set');
  }
}

const printable = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

function validateManagedFields(
  { manager = '', operation, fieldsType = '' }: Given<V1ManagedFieldsEntry>,
  at: string,
  errors: FieldErrors,
): void {
  if (Buffer.byteLength(manager) > maxManagerBytes) errors.tooLong(`${at}.fieldManager`, maxManagerBytes);
  let position = 0;
  for (const char of manager) {
    if (!printable.test(char)) {
      const codePoint = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.invalid(`${at}.fieldManager`, manager, `invalid character U+${codePoint} (at position ${position})`);
    }
    position += Buffer.byteLength(char);
  }
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.invalid(`${at}.managedFields.operation`, operation ?? '', 'must be `Apply` or `Update`');
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.invalid(`${at}.managedFields.fieldsType`, fieldsType, 'must be `FieldsV1`');
}
