import type { Container } from './given.ts';
import { validateDns1123Label } from './checks.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import type { FieldErrors } from './field-error.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { validateContainerPorts, validateHostPortConflicts } from './ports.ts';
import { validateLifecycle, validateProbe } from './probes.ts';
import { validateContainerRestartPolicy, validateResizePolicy } from './restart-policy.ts';
import { validateResourceRequirements } from './resources.ts';
import { validateSecurityContext } from './security-context.ts';
import { validateVolumeMounts } from './volume-mounts.ts';
import type { VolumesByName } from './volumes.ts';

/** What a container's validation must know of its pod. */
export interface ContainerSurroundings {
  readonly volumes: VolumesByName;
  readonly terminationGracePeriodSeconds: number;
  readonly restartPolicy: string | undefined;
  readonly options: PodValidationOptions;
}

const pullPolicies: readonly string[] = ['Always', 'IfNotPresent', 'Never'];

export function validateContainers(containers: readonly Container[], pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  if (containers.length === 0) return errors.required(at);
  validateEach(containers, pod, at, errors);
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
  validateEach(containers, pod, at, errors);
  for (const container of containers) validateHostPortConflicts([container], at, errors);
  const names = new Set(others.map(({ name }) => name ?? ''));
  for (const [i, container] of containers.entries()) {
    const here = `${at}[${i}]`;
    const { name = '', restartPolicy } = container;
    if (names.has(name)) errors.duplicate(`${here}.name`, name);
    if (name !== '') names.add(name);
    if (restartPolicy === 'Always') continue;
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      const given = container[field] !== undefined;
      if (given) errors.forbidden(`${here}.${field}`, 'may not be set for init containers without restartPolicy=Always');
    }
  }
}

function validateEach(containers: readonly Container[], pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [i, container] of containers.entries()) {
    const { name = '' } = container;
    if (name === '') errors.required(`${at}[${i}].name`);
    else validateDns1123Label(name, `${at}[${i}].name`, errors);
    if (names.has(name)) errors.duplicate(`${at}[${i}].name`, name);
    names.add(name);
    validateContainer(container, pod, `${at}[${i}]`, errors);
  }
}

/** All but its name. */
function validateContainer(container: Container, pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  const { image = '', terminationMessagePolicy = '', imagePullPolicy = '', ports = [], env = [], envFrom = [] } = container;
  if (image === '') errors.required(`${at}.image`);
  if (container.lifecycle !== undefined) {
    validateLifecycle(container.lifecycle, `${at}.lifecycle`, errors, pod.terminationGracePeriodSeconds);
  }
  for (const kind of ['livenessProbe', 'startupProbe', 'readinessProbe'] as const) validateProbe(kind, container[kind], at, errors);
  validateTerminationMessagePolicy(terminationMessagePolicy, `${at}.terminationMessagePolicy`, errors);
  validateContainerRestartPolicy(container, at, errors);
  validateResizePolicy(container, pod.restartPolicy, at, errors);
  validateContainerPorts(ports, `${at}.ports`, errors);
  validateEnv(env, `${at}.env`, errors, pod.options);
  validateEnvFrom(envFrom, `${at}.envFrom`, errors);
  validateVolumeMounts(container, pod.volumes, at, errors);
  if (imagePullPolicy === '') errors.required(`${at}.imagePullPolicy`);
  else if (!pullPolicies.includes(imagePullPolicy)) errors.notSupported(`${at}.imagePullPolicy`, imagePullPolicy, pullPolicies);
  if (container.resources !== undefined) validateResourceRequirements(container.resources, `${at}.resources`, errors);
  validateSecurityContext(container.securityContext, `${at}.securityContext`, errors, pod.options);
}

function validateTerminationMessagePolicy(policy: string, at: string, errors: FieldErrors): void {
  const either = "must be 'File' or 'FallbackToLogsOnError'";
  if (policy === '') errors.required(at, either);
  else if (policy !== 'File' && policy !== 'FallbackToLogsOnError') errors.invalid(at, policy, either);
}
