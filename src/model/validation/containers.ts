import type { Container } from './given.ts';
import { validateDns1123Label } from './checks.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import type { FieldErrors } from './field-error.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { validateContainerPorts, validateHostPortConflicts } from './ports.ts';
import { validateLifecycle, validateProbe } from './probes.ts';
import { validateContainerRestartPolicy, validateResizePolicy } from './restart-policy.ts';
import { validateUsedClaims } from './resource-claims.ts';
import { validateStopSignal } from './stop-signal.ts';
import { validateResourceRequirements } from './resources.ts';
import { validateSecurityContext } from './security-context.ts';
import { validateVolumeMounts } from './volume-mounts.ts';
import type { VolumesByName } from './volumes.ts';

/** What a container's validation must know of its pod. */
export interface ContainerSurroundings {
  readonly volumes: VolumesByName;
  readonly terminationGracePeriodSeconds: number;
  readonly restartPolicy: string | undefined;
  readonly hostUsers: boolean | undefined;
  /** Of spec.os, where it is given. */
  readonly os: string | undefined;
  /** Of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly options: PodValidationOptions;
}

const messagePolicies: readonly string[] = ['File', 'FallbackToLogsOnError'];
const pullPolicies: readonly string[] = ['Always', 'IfNotPresent', 'Never'];

export function validateContainers(containers: readonly Container[], pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  if (containers.length === 0) return errors.required(at);
  const names = new Set<string>();
  for (const [i, container] of containers.entries()) {
    const here = `${at}[${i}]`;
    validateName(container.name ?? '', names, `${here}.name`, errors);
    validateContainer(container, pod, here, errors);
    validateContainerRestartPolicy(container, false, here, errors, pod.options);
    validateUpkeep(container, pod, here, errors);
  }
  validateHostPortConflicts(containers, at, errors);
}

/** Init containers run one after the other, but for the sidecars among them (restartPolicy Always, Kubernetes 1.28 and later). */
export function validateInitContainers(
  containers: readonly Container[],
  others: readonly Container[],
  pod: ContainerSurroundings,
  at: string,
  errors: FieldErrors,
): void {
  for (const container of containers) validateHostPortConflicts([container], at, errors);
  const names = new Set(others.map(({ name }) => name ?? ''));
  for (const [i, container] of containers.entries()) {
    const here = `${at}[${i}]`;
    validateName(container.name ?? '', names, `${here}.name`, errors);
    validateContainer(container, pod, here, errors);
    validateContainerRestartPolicy(container, true, here, errors, pod.options);
    if (container.restartPolicy === 'Always') {
      validateUpkeep(container, pod, here, errors);
      continue;
    }
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      const given = container[field] !== undefined;
      if (given) errors.forbidden(`${here}.${field}`, 'may not be set for init containers without restartPolicy=Always');
    }
  }
}

/** `taken` are the names of others, to which it is added. */
function validateName(name: string, taken: Set<string>, at: string, errors: FieldErrors): void {
  if (name === '') errors.required(at);
  else validateDns1123Label(name, at, errors);
  if (taken.has(name)) errors.duplicate(at, name);
  taken.add(name);
}

/** All but its name, its hooks, its probes and its restart policy. */
function validateContainer(container: Container, pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  const { image = '', terminationMessagePolicy = '', imagePullPolicy = '', ports = [], env = [], envFrom = [] } = container;
  if (image === '') errors.required(`${at}.image`);
  validateTerminationMessagePolicy(terminationMessagePolicy, `${at}.terminationMessagePolicy`, errors);
  validateResizePolicy(container, pod.restartPolicy, at, errors);
  validateContainerPorts(ports, `${at}.ports`, errors);
  validateEnv(env, pod.volumes, `${at}.env`, errors, pod.options);
  validateEnvFrom(envFrom, `${at}.envFrom`, errors);
  validateVolumeMounts(container, pod.volumes, at, errors);
  if (imagePullPolicy === '') errors.required(`${at}.imagePullPolicy`);
  else if (!pullPolicies.includes(imagePullPolicy)) errors.notSupported(`${at}.imagePullPolicy`, imagePullPolicy, pullPolicies);
  if (container.resources !== undefined) {
    validateResourceRequirements(container.resources, `${at}.resources`, errors);
    validateUsedClaims(container.resources.claims ?? [], pod.claims, `${at}.resources.claims`, errors);
  }
  validateSecurityContext(container.securityContext, `${at}.securityContext`, errors, pod.options, pod.hostUsers);
}

/** What happens around a container's life, and that it lives. */
function validateUpkeep(container: Container, pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  const { lifecycle } = container;
  if (lifecycle !== undefined) {
    validateLifecycle(lifecycle, `${at}.lifecycle`, errors, pod.terminationGracePeriodSeconds);
    validateStopSignal(lifecycle.stopSignal, pod.os, `${at}.lifecycle.stopSignal`, errors);
  }
  for (const kind of ['livenessProbe', 'startupProbe', 'readinessProbe'] as const) validateProbe(kind, container[kind], at, errors);
}

function validateTerminationMessagePolicy(policy: string, at: string, errors: FieldErrors): void {
  if (policy === '') errors.required(at, "must be 'File' or 'FallbackToLogsOnError'");
  else if (!messagePolicies.includes(policy)) errors.notSupported(at, policy, messagePolicies);
}
