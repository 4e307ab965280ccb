import type { V1VolumeDevice, V1VolumeMount } from '@kubernetes/client-node';
import type { Container, Given } from './given.ts';
import { isEmpty } from './checks.ts';
import type { FieldErrors } from './field-error.ts';
import { hasBacksteps, validateLocalDescendingPath } from './paths.ts';
import type { VolumesByName } from './volumes.ts';

const recursions: readonly string[] = ['Disabled', 'Enabled', 'IfPossible'];
const propagations: readonly string[] = ['Bidirectional', 'HostToContainer', 'None'];

/** Mounts and block devices of a container, and that they do not get in each other's way. */
export function validateVolumeMounts(container: Container, volumes: VolumesByName, at: string, errors: FieldErrors): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  if (volumeMounts.length === 0 && volumeDevices.length === 0) return;
  validateMounts(container, volumes, `${at}.volumeMounts`, errors);
  const mounted = new Map(volumeMounts.map(({ name, mountPath }) => [name ?? '', mountPath ?? '']));
  validateDevices(volumeDevices, mounted, volumes, `${at}.volumeDevices`, errors);
}

function validateMounts(container: Container, volumes: VolumesByName, at: string, errors: FieldErrors): void {
  const devices = new Map((container.volumeDevices ?? []).map(({ name, devicePath }) => [name ?? '', devicePath ?? '']));
  const devicePaths = new Set(devices.values());
  const paths = new Set<string>();
  for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
    const { name = '', mountPath = '', subPath = '', subPathExpr = '', mountPropagation } = mount;
    const here = `${at}[${i}]`;
    if (name === '') errors.required(`${here}.name`);
    if (!volumes.has(name)) errors.notFound(`${here}.name`, name);
    if (mountPath === '') errors.required(`${here}.mountPath`);
    if (paths.has(mountPath)) errors.invalid(`${here}.mountPath`, mountPath, 'must be unique');
    paths.add(mountPath);
    if (devices.has(name)) errors.invalid(`${here}.name`, name, 'must not already exist in volumeDevices');
    if (devicePaths.has(mountPath)) errors.invalid(`${here}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices');
    // Kubernetes leaves the index out of the next four paths.
    if (subPath !== '') validateLocalDescendingPath(subPath, `${at}.subPath`, errors);
    if (subPathExpr !== '') {
      if (subPath !== '') errors.invalid(`${here}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive');
      validateLocalDescendingPath(subPathExpr, `${at}.subPathExpr`, errors);
    }
    if (mountPropagation !== undefined) validatePropagation(mountPropagation, container, `${at}.mountPropagation`, errors);
    validateRecursiveReadOnly(mount, `${at}.recursiveReadOnly`, errors);
  }
}

function validatePropagation(propagation: string, { securityContext }: Container, at: string, errors: FieldErrors): void {
  if (!propagations.includes(propagation)) errors.notSupported(at, propagation, propagations);
  if (propagation === 'Bidirectional' && securityContext?.privileged !== true) {
    errors.forbidden(at, 'Bidirectional mount propagation is available only to privileged containers');
  }
}

function validateRecursiveReadOnly(mount: Given<V1VolumeMount>, at: string, errors: FieldErrors): void {
  const { recursiveReadOnly: mode, readOnly, mountPropagation } = mount;
  if (mode === undefined || mode === 'Disabled') return;
  if (!recursions.includes(mode)) {
    errors.notSupported(at, mode, recursions);
    return;
  }
  if (readOnly !== true) errors.forbidden(at, 'may only be specified when readOnly is true');
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    errors.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}

function validateDevices(
  devices: readonly Given<V1VolumeDevice>[],
  mounted: ReadonlyMap<string, string>,
  volumes: VolumesByName,
  at: string,
  errors: FieldErrors,
): void {
  const mountPaths = new Set(mounted.values());
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [i, { name = '', devicePath = '' }] of devices.entries()) {
    const atName = `${at}[${i}].name`;
    const atPath = `${at}[${i}].devicePath`;
    const volume = volumes.get(name);
    if (name === '') errors.required(atName);
    if (names.has(name)) errors.invalid(atName, name, 'must be unique');
    if (volume === undefined) errors.notFound(atName, name);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      errors.invalid(atName, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
    }
    if (isEmpty(devicePath)) errors.required(atPath);
    if (paths.has(devicePath)) errors.invalid(atPath, devicePath, 'must be unique');
    if (hasBacksteps(devicePath)) errors.invalid(atPath, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounted.has(name)) errors.invalid(atName, name, 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) errors.invalid(atPath, devicePath, 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
  }
}
