import type { FieldErrors } from './field-error.ts';
import type { PodSpec } from './given.ts';

const ofPod = ['hostPID', 'hostIPC', 'hostUsers', 'shareProcessNamespace'] as const;
const ofPodContext = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
] as const;
const ofContainerContext = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** An empty list is none. */
const isSet = (value: unknown): boolean => value !== undefined && (!Array.isArray(value) || value.length > 0);

/** What a pod of one operating system may not set for another (validateWindows, validateLinux in pkg/apis/core/validation). */
export function validateOsFields(spec: PodSpec, at: string, errors: FieldErrors): void {
  const os = spec.os?.name;
  const containers = (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map(({ securityContext }, i) => ({ securityContext, here: `${at}.${list}[${i}].securityContext` })),
  );
  const contexts = [{ securityContext: spec.securityContext, here: `${at}.securityContext` }, ...containers];
  if (os === 'linux') {
    for (const { securityContext, here } of contexts) {
      if (securityContext?.windowsOptions === undefined) continue;
      errors.forbidden(`${here}.windowsOptions`, 'windows options cannot be set for a linux pod');
    }
  }
  if (os !== 'windows') return;
  const refuse = (field: string): void => errors.forbidden(field, 'cannot be set for a windows pod');
  for (const field of ofPod) {
    const set = field === 'hostUsers' || field === 'shareProcessNamespace' ? spec[field] !== undefined : spec[field] === true;
    if (set) refuse(`${at}.${field}`);
  }
  for (const field of ofPodContext) if (isSet(spec.securityContext?.[field])) refuse(`${at}.securityContext.${field}`);
  for (const { securityContext, here } of containers) {
    for (const field of ofContainerContext) if (isSet(securityContext?.[field])) refuse(`${here}.${field}`);
  }
}

/** Containers of a Windows host have its network. */
export function validateHostProcess(spec: PodSpec, at: string, errors: FieldErrors): void {
  const contexts = [spec, ...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ securityContext }) => securityContext);
  if (spec.hostNetwork === true || !contexts.some((context) => context?.windowsOptions?.hostProcess === true)) return;
  errors.invalid(`${at}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers');
}
