import type { V1PersistentVolumeClaimSpec, V1PersistentVolumeClaimTemplate } from '@kubernetes/client-node';
import type { Given, ObjectMeta } from './given.ts';
import { notPositive } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Subdomain } from './formats.ts';
import { validateLabels, validateLabelSelector } from './labels.ts';
import { validateAnnotations } from './object-meta.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { readQuantity } from './resources.ts';

const accessModes: readonly string[] = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes: readonly string[] = ['Block', 'Filesystem'];

/** The claim that an ephemeral volume brings about. */
export function validateClaimTemplate(
  { metadata, spec }: Given<V1PersistentVolumeClaimTemplate>,
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
): void {
  validateTemplateMeta(metadata ?? {}, `${at}.metadata`, errors, options);
  validateClaimSpec(spec ?? {}, `${at}.spec`, errors);
}

function validateTemplateMeta(meta: ObjectMeta, at: string, errors: FieldErrors, { writtenEmpty }: PodValidationOptions): void {
  validateAnnotations(meta.annotations, `${at}.annotations`, errors);
  validateLabels(meta.labels, `${at}.labels`, errors);
  const emptied = ['ownerReferences', 'finalizers', 'managedFields'].filter((field) => writtenEmpty.has(`${at}.${field}`));
  const given = Object.entries(meta).filter(([, value]) => value !== undefined && value !== null);
  for (const field of [...given.map(([name]) => name), ...emptied]) {
    if (field === 'labels' || field === 'annotations') continue;
    // Kubernetes names a field here after its own, written with a small first letter.
    errors.forbidden(`${at}.${field === 'uid' ? 'uID' : field}`, 'cannot be set');
  }
}

function validateClaimSpec(spec: Given<V1PersistentVolumeClaimSpec>, at: string, errors: FieldErrors): void {
  const { accessModes: modes = [], storageClassName = '', volumeMode, dataSource } = spec;
  if (modes.length === 0) errors.required(`${at}.accessModes`, 'at least 1 access mode is required');
  validateLabelSelector(spec.selector, `${at}.selector`, errors);
  for (const mode of modes) {
    if (!accessModes.includes(mode)) errors.notSupported(`${at}.accessModes`, mode, accessModes);
  }
  const storage = spec.resources?.requests?.['storage'];
  if (storage === undefined) errors.required(`${at}.resources[storage]`);
  else if ((readQuantity(storage)?.sign() ?? 1) <= 0) errors.invalid(`${at}.resources[storage]`, storage, notPositive);
  if (storageClassName !== '') errors.invalidEach(`${at}.storageClassName`, storageClassName, isDns1123Subdomain(storageClassName));
  if (volumeMode !== undefined && !volumeModes.includes(volumeMode)) errors.notSupported(`${at}.volumeMode`, volumeMode, volumeModes);
  if (dataSource === undefined) return;
  const { apiGroup = '', kind = '', name = '' } = dataSource;
  if (name === '') errors.required(`${at}.dataSource.name`);
  if (kind === '') errors.required(`${at}.dataSource.kind`);
  if (apiGroup === '' && kind !== 'PersistentVolumeClaim')
    errors.invalid(`${at}.dataSource`, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}
