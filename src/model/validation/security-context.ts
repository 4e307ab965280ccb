import type { V1SecurityContext, V1Sysctl } from '@kubernetes/client-node';
import type { Given, PodSpec } from './given.ts';
import { validateUnixId } from './checks.ts';
import { validateAppArmorProfile } from './app-armor-profile.ts';
import type { FieldErrors } from './field-error.ts';
import { validateHostNetworkPorts } from './ports.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { validateSeccompProfile } from './seccomp.ts';
import { validateWindowsOptions } from './windows-options.ts';

const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlPattern = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
const sysctlName = new RegExp(sysctlPattern);
const maxSysctlLength = 253;
const groupsPolicies: readonly string[] = ['Merge', 'Strict'];
/** The other one, MountOption, needs the gate SELinuxMount. */
const relabelPolicies: readonly string[] = ['Recursive'];
const fsGroupChangePolicies: readonly string[] = ['Always', 'OnRootMismatch'];

/** The pod's own, and what the pod shares with its host. */
export function validatePodSecurityContext(spec: PodSpec, at: string, errors: FieldErrors): void {
  if (spec.hostNetwork === true) validateHostNetworkPorts(spec.containers ?? [], `${at}.containers`, errors);
  const here = `${at}.securityContext`;
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.invalid(`${here}.shareProcessNamespace`, true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  if (spec.hostUsers === false && spec.os?.name !== 'windows') validateOwnUsers(spec, at, errors);
  const { securityContext } = spec;
  if (securityContext === undefined) return;
  const { fsGroupChangePolicy } = securityContext;
  for (const id of ['fsGroup', 'runAsUser', 'runAsGroup'] as const) validateUnixId(securityContext[id], `${here}.${id}`, errors);
  for (const [i, group] of (securityContext.supplementalGroups ?? []).entries()) {
    validateUnixId(group, `${here}.supplementalGroups[${i}]`, errors);
  }
  validateSysctls(securityContext.sysctls ?? [], `${here}.sysctls`, errors);
  if (fsGroupChangePolicy !== undefined && !fsGroupChangePolicies.includes(fsGroupChangePolicy)) {
    errors.notSupported(`${here}.fsGroupChangePolicy`, fsGroupChangePolicy, fsGroupChangePolicies);
  }
  const { supplementalGroupsPolicy: groups, seLinuxChangePolicy: relabel } = securityContext;
  if (groups !== undefined && !groupsPolicies.includes(groups))
    errors.notSupported(`${here}.supplementalGroupsPolicy`, groups, groupsPolicies);
  if (relabel !== undefined && !relabelPolicies.includes(relabel))
    errors.notSupported(`${here}.seLinuxChangePolicy`, relabel, relabelPolicies);
  validateAppArmorProfile(securityContext.appArmorProfile, `${here}.appArmorProfile`, errors);
  validateSeccompProfile(securityContext.seccompProfile, `${here}.seccompProfile`, errors);
  validateWindowsOptions(securityContext.windowsOptions, `${here}.windowsOptions`, errors);
}

/** Whoever has users of its own shares no other namespace with the host. The paths are Kubernetes'. */
function validateOwnUsers(spec: PodSpec, at: string, errors: FieldErrors): void {
  const shared = { hostNetwork: spec.hostNetwork, HostPID: spec.hostPID, HostIPC: spec.hostIPC };
  for (const [field, value] of Object.entries(shared)) if (value === true) errors.forbidden(`${at}.${field}`, 'when `hostUsers` is false');
}

function validateSysctls(sysctls: readonly Given<V1Sysctl>[], at: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, { name = '' }] of sysctls.entries()) {
    const here = `${at}[${i}].name`;
    if (name === '') errors.required(here);
    else if (name.length > maxSysctlLength || !sysctlName.test(name)) {
      errors.invalid(here, name, `must have at most ${maxSysctlLength} characters and match regex ${sysctlPattern}`);
    } else if (names.has(name)) errors.duplicate(here, name);
    names.add(name);
  }
}

/** A container's. */
export function validateSecurityContext(
  context: Given<V1SecurityContext> | undefined,
  at: string,
  errors: FieldErrors,
  options: PodValidationOptions,
  hostUsers: boolean | undefined,
): void {
  if (context === undefined) return;
  const { privileged, procMount } = context;
  if (privileged === true && !options.allowPrivileged) errors.forbidden(`${at}.privileged`, 'disallowed by cluster policy');
  for (const id of ['runAsUser', 'runAsGroup'] as const) validateUnixId(context[id], `${at}.${id}`, errors);
  if (procMount !== undefined && procMount !== 'Default' && procMount !== 'Unmasked') {
    errors.notSupported(`${at}.procMount`, procMount, ['Default', 'Unmasked']);
  }
  if (procMount === 'Unmasked' && hostUsers !== false) {
    errors.invalid(`${at}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  validateAppArmorProfile(context.appArmorProfile, `${at}.appArmorProfile`, errors);
  validateSeccompProfile(context.seccompProfile, `${at}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation === false) {
    const without = 'cannot set `allowPrivilegeEscalation` to false and';
    if (privileged === true) errors.invalid(at, context, `${without} \`privileged\` to true`);
    for (const capability of context.capabilities?.add ?? []) {
      if (capability === 'CAP_SYS_ADMIN') errors.invalid(at, context, `${without} \`capabilities.Add\` CAP_SYS_ADMIN`);
    }
  }
  validateWindowsOptions(context.windowsOptions, `${at}.windowsOptions`, errors);
}
