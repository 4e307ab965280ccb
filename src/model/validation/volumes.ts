import type { V1Volume } from '@kubernetes/client-node';
import type { Given } from './given.ts';
import { quote } from '../go-text.ts';
import { validateDns1123Label } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { isDns1123Subdomain } from './formats.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { validateVolumeSource } from './volume-sources.ts';

type Volume = Given<V1Volume>;
export type VolumesByName = ReadonlyMap<string, Volume>;

/** Reports what is wrong and returns the volumes that a container may mount: those in order. */
export function validateVolumes(
  volumes: readonly Volume[],
  podName: string,
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
): VolumesByName {
  const good = new Map<string, Volume>();
  const ownClaims = new Set(
    podName === '' ? [] : volumes.filter((v) => v.ephemeral !== undefined).map(({ name }) => claimName(podName, name ?? '')),
  );
  for (const [i, volume] of volumes.entries()) {
    const here = `${at}[${i}]`;
    const { name = '' } = volume;
    const before = errors.count;
    validateVolumeSource(volume, here, errors, options);
    if (volume.ephemeral !== undefined && podName !== '' && name !== '') validateOwnClaim(volume, podName, here, errors);
    if (name === '') errors.required(`${here}.name`);
    else validateDns1123Label(name, `${here}.name`, errors);
    if (good.has(name)) errors.duplicate(`${here}.name`, name);
    if (errors.count === before) good.set(name, volume);
    const claim = volume.persistentVolumeClaim?.claimName ?? '';
    if (ownClaims.has(claim)) {
      const why = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.invalid(`${here}.persistentVolumeClaim.claimName`, claim, why);
    }
  }
  return good;
}

const claimName = (podName: string, volumeName: string): string => `${podName}-${volumeName}`;

/** The claim that an ephemeral volume brings about is named after the pod and the volume. */
function validateOwnClaim(volume: Volume, podName: string, at: string, errors: FieldErrors): void {
  if (!isOnlySource(volume)) return;
  const { name = '' } = volume;
  const claim = claimName(podName, name);
  for (const why of isDns1123Subdomain(claim)) errors.invalid(`${at}.name`, name, `PVC name ${quote(claim)}: ${why}`);
}

const isOnlySource = (volume: Volume): boolean => Object.values(volume).filter((v) => typeof v === 'object').length === 1;
