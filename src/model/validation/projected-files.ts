import type { V1DownwardAPIVolumeFile, V1KeyToPath, V1VolumeProjection } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { requireFields, validateFileMode } from './checks.ts';
import { validateObjectFieldSelector, validateResourceFieldSelector, volumeFieldPaths } from './downward-api.ts';
import type { FieldErrors } from './field-error.ts';
import { validateLocalNonReservedPath } from './paths.ts';
import { validatePodCertificate } from './pod-certificate.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';

type KeyToPath = Given<V1KeyToPath>;
type DownwardAPIVolumeFile = Given<V1DownwardAPIVolumeFile>;

export function validateKeysToPaths(items: readonly KeyToPath[], at: string, errors: FieldErrors): void {
  for (const [i, item] of items.entries()) {
    const here = `${at}[${i}]`;
    requireFields(item, here, errors, 'key', 'path');
    validateLocalNonReservedPath(item.path ?? '', `${here}.path`, errors);
    validateFileMode(item.mode, `${here}.mode`, errors);
  }
}

/** Kubernetes gives these files the path of their volume, without an index. */
export function validateDownwardAPIFiles(
  files: readonly DownwardAPIVolumeFile[],
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
): void {
  for (const file of files) {
    const { path = '', fieldRef, resourceFieldRef } = file;
    requireFields(file, at, errors, 'path');
    validateLocalNonReservedPath(path, `${at}.path`, errors);
    if (fieldRef !== undefined) {
      validateObjectFieldSelector(fieldRef, volumeFieldPaths, `${at}.fieldRef`, errors);
      if (resourceFieldRef !== undefined) {
        errors.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
      }
    } else if (resourceFieldRef !== undefined) {
      validateResourceFieldSelector(resourceFieldRef, 'volume', `${at}.resourceFieldRef`, errors, options);
    } else errors.required(at, 'one of fieldRef and resourceFieldRef is required');
    validateFileMode(file.mode, `${at}.mode`, errors);
  }
}

const shortestTokenSeconds = 10 * 60;
const longestTokenSeconds = 2 ** 32;
const kinds = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate'] as const;

/** The sources of a projected volume share one directory. `at` is the volume's path, which some errors carry. */
export function validateProjected(
  sources: readonly Given<V1VolumeProjection>[],
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
): void {
  const paths = new Set<string>();
  const claimPaths = (items: readonly { readonly path?: string }[], badValue?: string): void => {
    for (const { path = '' } of items) {
      if (path !== '' && paths.has(path)) errors.invalid(at, badValue ?? path, 'conflicting duplicate paths');
      paths.add(path);
    }
  };
  for (const [i, source] of sources.entries()) {
    const here = `${at}.sources[${i}]`;
    for (const kind of ['secret', 'configMap'] as const) {
      const projection = source[kind];
      if (projection === undefined) continue;
      requireFields(projection, `${here}.${kind}`, errors, 'name');
      validateKeysToPaths(projection.items ?? [], `${here}.${kind}.items`, errors);
      claimPaths(projection.items ?? [], projection.name ?? '');
    }
    if (source.downwardAPI !== undefined) {
      validateDownwardAPIFiles(source.downwardAPI.items ?? [], `${here}.downwardAPI`, errors, options);
      claimPaths(source.downwardAPI.items ?? []);
    }
    if (source.podCertificate !== undefined) validatePodCertificate(source.podCertificate, `${here}.podCertificate`, errors);
    if (source.serviceAccountToken !== undefined) validateToken(source.serviceAccountToken, `${here}.serviceAccountToken`, at, errors);
    if (kinds.filter((kind) => source[kind] !== undefined).length > 1) {
      errors.forbidden(here, 'may not specify more than 1 volume type per source');
    }
  }
}

type Token = NonNullable<Given<V1VolumeProjection>['serviceAccountToken']>;

function validateToken({ expirationSeconds = 0, path = '' }: Token, at: string, atVolume: string, errors: FieldErrors): void {
  const here = `${at}.expirationSeconds`;
  if (expirationSeconds < shortestTokenSeconds) errors.invalid(here, expirationSeconds, 'may not specify a duration less than 10 minutes');
  if (expirationSeconds > longestTokenSeconds)
    errors.invalid(here, expirationSeconds, 'may not specify a duration larger than 2^32 seconds');
  if (path === '') errors.required(`${atVolume}.path`);
}
