import type { V1ConfigMapKeySelector, V1EnvFromSource, V1EnvVar, V1FileKeySelector } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { envFieldPaths, validateObjectFieldSelector, validateResourceFieldSelector } from './downward-api.ts';
import type { FieldErrors } from './field-error.ts';
import { asPrefix, isConfigMapKey, isDns1123Subdomain, isEnvVarName } from './formats.ts';
import { validatePathNoBacksteps } from './paths.ts';
import type { VolumesByName } from './volumes.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';

const SOURCES = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
const SOURCES_WITHOUT_FILES = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';

export function validateEnv(
  env: readonly Given<V1EnvVar>[],
  volumes: VolumesByName,
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
): void {
  for (const [i, variable] of env.entries()) {
    const name = variable.name ?? '';
    if (name === '') errors.required(`${at}[${i}].name`);
    else errors.invalidEach(`${at}[${i}].name`, name, isEnvVarName(name));
    validateValueFrom(variable, `${at}[${i}].valueFrom`, errors, options);
    const { fileKeyRef } = variable.valueFrom ?? {};
    if (fileKeyRef && options.allowEnvFiles) validateFileKeyRef(fileKeyRef, volumes, `${at}[${i}].valueFrom.fileKeyRef`, errors);
  }
}

function validateValueFrom({ value, valueFrom }: Given<V1EnvVar>, at: string, errors: FieldErrors, options: PodValidationOptions): void {
  if (valueFrom === undefined) return;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  const fileKeyRef = options.allowEnvFiles ? valueFrom.fileKeyRef : undefined;
  if (fieldRef) validateObjectFieldSelector(fieldRef, envFieldPaths, `${at}.fieldRef`, errors);
  if (resourceFieldRef) validateResourceFieldSelector(resourceFieldRef, 'env', `${at}.resourceFieldRef`, errors, options);
  if (configMapKeyRef) validateKeySelector(configMapKeyRef, `${at}.configMapKeyRef`, errors);
  if (secretKeyRef) validateKeySelector(secretKeyRef, `${at}.secretKeyRef`, errors);
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((s) => s !== undefined).length;
  if (sources === 0) errors.invalid(at, '', `must specify one of: ${options.allowEnvFiles ? SOURCES : SOURCES_WITHOUT_FILES}`);
  else if ((value ?? '') !== '') errors.invalid(at, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) errors.invalid(at, '', 'may not have more than one field specified at a time');
}

/** A line of a file that an init container has written into an emptyDir. */
function validateFileKeyRef(
  { key = '', volumeName = '', path = '' }: Given<V1FileKeySelector>,
  volumes: VolumesByName,
  at: string,
  errors: FieldErrors,
): void {
  if (key === '') errors.required(`${at}.key`);
  else errors.invalidEach(`${at}.key`, key, isEnvVarName(key));
  if (volumeName === '') errors.required(`${at}.volumeName`);
  else if (!volumes.has(volumeName)) errors.notFound(`${at}.volumeName`, volumeName);
  else if (volumes.get(volumeName)?.emptyDir === undefined) {
    errors.invalid(`${at}.volumeName`, volumeName, 'referenced volume must be of type emptyDir');
  }
  if (path === '') errors.required(`${at}.path`);
  else validatePathNoBacksteps(path, `${at}.path`, errors);
}

function validateKeySelector({ name = '', key = '' }: Given<V1ConfigMapKeySelector>, at: string, errors: FieldErrors): void {
  errors.invalidEach(`${at}.name`, name, isDns1123Subdomain(name));
  if (key === '') errors.required(`${at}.key`);
  else errors.invalidEach(`${at}.key`, key, isConfigMapKey(key));
}

export function validateEnvFrom(sources: readonly Given<V1EnvFromSource>[], at: string, errors: FieldErrors): void {
  for (const [i, source] of sources.entries()) {
    const { prefix = '' } = source;
    if (prefix !== '') errors.invalidEach(`${at}[${i}].prefix`, prefix, isEnvVarName(prefix));
    let count = 0;
    for (const kind of ['configMapRef', 'secretRef'] as const) {
      if (source[kind] === undefined) continue;
      count++;
      const { name = '' } = source[kind];
      const here = `${at}[${i}].${kind}.name`;
      if (name === '') errors.required(here);
      else errors.invalidEach(here, name, asPrefix(isDns1123Subdomain)(name));
    }
    if (count === 0) errors.invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (count > 1) errors.invalid(at, '', 'may not have more than one field specified at a time');
  }
}
