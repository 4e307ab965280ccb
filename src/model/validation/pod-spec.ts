import type { PodSpec } from './given.ts';
import { validateDns1123Label, validateDns1123Subdomain, validateIp } from './checks.ts';
import { validateAffinity } from './affinity.ts';
import { validateContainers, validateInitContainers, type ContainerSurroundings } from './containers.ts';
import { validateDnsConfig } from './dns-config.ts';
import { validateEphemeralContainers } from './ephemeral-containers.ts';
import type { FieldErrors } from './field-error.ts';
import { isQualifiedName, mustBeBetween } from './formats.ts';
import { validateLabels } from './labels.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { validatePodResources } from './pod-level.ts';
import { validateResourceClaims } from './resource-claims.ts';
import { validateSchedulingGates } from './scheduling-gates.ts';
import { validateHostProcess, validateOsFields } from './windows-pod.ts';
import { validateResourceRequirements } from './resources.ts';
import { validatePodSecurityContext } from './security-context.ts';
import { validateTolerations } from './tolerations.ts';
import { validateTopologySpread } from './topology-spread.ts';
import { validateVolumes } from './volumes.ts';

const maxInt32 = 2 ** 31 - 1;
const restartPolicies: readonly string[] = ['Always', 'OnFailure', 'Never'];
const dnsPolicies: readonly string[] = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const preemptionPolicies: readonly string[] = ['PreemptLowerPriority', 'Never'];
const operatingSystems: readonly string[] = ['linux', 'windows'];

/** `podName` may be empty; with it the claims of ephemeral volumes are checked. */
export function validatePodSpec(spec: PodSpec, podName: string, at: string, errors: FieldErrors, options: PodValidationOptions): void {
  const { containers = [], initContainers = [], terminationGracePeriodSeconds = 0 } = spec;
  const volumes = validateVolumes(spec.volumes ?? [], podName, `${at}.volumes`, errors, options);
  const pod: ContainerSurroundings = {
    volumes,
    terminationGracePeriodSeconds,
    restartPolicy: spec.restartPolicy,
    hostUsers: spec.hostUsers,
    os: spec.os?.name,
    claims: validateResourceClaims(spec.resourceClaims ?? [], `${at}.resourceClaims`, errors),
    options,
  };
  validateContainers(containers, pod, `${at}.containers`, errors);
  validateInitContainers(initContainers, containers, pod, `${at}.initContainers`, errors);
  validateEphemeralContainers(spec, pod, `${at}.ephemeralContainers`, errors);
  validateChoice(spec.restartPolicy ?? '', restartPolicies, `${at}.restartPolicy`, errors);
  validateChoice(spec.dnsPolicy ?? '', dnsPolicies, `${at}.dnsPolicy`, errors);
  if (spec.preemptionPolicy !== undefined) validateChoice(spec.preemptionPolicy, preemptionPolicies, `${at}.preemptionPolicy`, errors);
  if (spec.os !== undefined) validateOs(spec.os.name ?? '', `${at}.os`, errors);
  validateLabels(spec.nodeSelector, `${at}.nodeSelector`, errors);
  validatePodSecurityContext(spec, at, errors);
  validateHostProcess(spec, at, errors);
  validateOsFields(spec, at, errors);
  validatePodResources(spec, `${at}.resources`, errors);
  validateSchedulingGates(spec, at, errors);
  validateAffinity(spec.affinity, `${at}.affinity`, errors);
  validateDnsConfig(spec, `${at}.dnsConfig`, errors);
  validateTopologySpread(spec.topologySpreadConstraints ?? [], `${at}.topologySpreadConstraints`, errors);
  validateTolerations(spec.tolerations ?? [], `${at}.tolerations`, errors);
  if (spec.overhead !== undefined) validateResourceRequirements({ limits: spec.overhead }, `${at}.overhead`, errors);
  for (const [i, { conditionType = '' }] of (spec.readinessGates ?? []).entries()) {
    errors.invalidEach(`${at}.readinessGates[${i}].conditionType`, conditionType, isQualifiedName(conditionType));
  }
  validateHostAliases(spec.hostAliases ?? [], `${at}.hostAliases`, errors);
  validateNames(spec, at, errors);
  const deadline = spec.activeDeadlineSeconds ?? 1;
  if (deadline < 1 || deadline > maxInt32) errors.invalid(`${at}.activeDeadlineSeconds`, deadline, mustBeBetween(1, maxInt32));
}

function validateChoice(value: string, choices: readonly string[], at: string, errors: FieldErrors): void {
  if (value === '') errors.required(at);
  else if (!choices.includes(value)) errors.notSupported(at, value, choices);
}

/** Names that need not be given. */
function validateNames(spec: PodSpec, at: string, errors: FieldErrors): void {
  for (const name of ['serviceAccountName', 'nodeName', 'priorityClassName'] as const) {
    const value = spec[name] ?? '';
    if (value !== '') validateDns1123Subdomain(value, `${at}.${name}`, errors);
  }
  for (const name of ['hostname', 'subdomain'] as const) {
    const value = spec[name] ?? '';
    if (value !== '') validateDns1123Label(value, `${at}.${name}`, errors);
  }
  if (spec.hostnameOverride !== undefined) {
    validateDns1123Subdomain(spec.hostnameOverride, `${at}.hostnameOverride`, errors);
    if (spec.hostNetwork === true) errors.forbidden(`${at}.hostnameOverride`, 'may not be specified when hostNetwork is true');
  }
  // An empty one is not the same as none.
  if (spec.runtimeClassName !== undefined) validateDns1123Subdomain(spec.runtimeClassName, `${at}.runtimeClassName`, errors);
}

/** The path of a name that is none is Kubernetes'. */
function validateOs(name: string, at: string, errors: FieldErrors): void {
  if (name === '') errors.required(`${at}.name`);
  else if (!operatingSystems.includes(name)) errors.notSupported(at, name, operatingSystems);
}

function validateHostAliases(aliases: NonNullable<PodSpec['hostAliases']>, at: string, errors: FieldErrors): void {
  for (const [i, { ip, hostnames = [] }] of aliases.entries()) {
    validateIp(ip, `${at}[${i}].ip`, errors);
    for (const [j, hostname] of hostnames.entries()) validateDns1123Subdomain(hostname, `${at}[${i}].hostnames[${j}]`, errors);
  }
}
