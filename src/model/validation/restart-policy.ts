import type { Container } from './given.ts';
import type { FieldErrors } from './field-error.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';

const policies: readonly string[] = ['Always', 'Never', 'OnFailure'];
const actions: readonly string[] = ['Restart', 'RestartAllContainers'];
const operators: readonly string[] = ['In', 'NotIn'];
const maxRules = 20;
const maxExitCodes = 255;

/** A container's own restart policy, and what its exit codes do (validateContainerRestartPolicy in pkg/apis/core/validation). */
export function validateContainerRestartPolicy(
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  isInit: boolean,
  at: string,
  errors: FieldErrors,
  { allowContainerRestartRules }: Pick<PodValidationOptions, 'allowContainerRestartRules'>,
): void {
  if (!allowContainerRestartRules) return validateSidecarPolicy(restartPolicy, rules.length > 0, isInit, at, errors);
  if (restartPolicy === undefined) {
    if (rules.length > 0) errors.required(`${at}.restartPolicy`, 'must specify restartPolicy when restart rules are used');
    // Kubernetes looks no further at an init container.
    if (isInit) return;
  } else if (!policies.includes(restartPolicy)) errors.notSupported(`${at}.restartPolicy`, restartPolicy, policies);
  if (rules.length > maxRules) errors.tooMany(`${at}.restartPolicyRules`, maxRules);
  for (const [i, { action = '', exitCodes }] of rules.entries()) {
    const here = `${at}.restartPolicyRules[${i}]`;
    if (!actions.includes(action)) errors.notSupported(`${here}.action`, action, actions);
    if (exitCodes === undefined) {
      errors.required(`${here}.exitCodes`, 'must be specified');
      continue;
    }
    const { operator = '', values = [] } = exitCodes;
    if (!operators.includes(operator)) errors.notSupported(`${here}.exitCodes.operator`, operator, operators);
    if (values.length > maxExitCodes) errors.tooMany(`${here}.exitCodes.values`, maxExitCodes);
  }
}

/** Before containers had restart policies of their own, Always made a sidecar of an init container, and no other had one. */
function validateSidecarPolicy(
  restartPolicy: string | undefined,
  hasRules: boolean,
  isInit: boolean,
  at: string,
  errors: FieldErrors,
): void {
  if (restartPolicy !== undefined && !isInit) errors.forbidden(`${at}.restartPolicy`, 'may not be set for non-init containers');
  if (restartPolicy !== undefined && isInit && restartPolicy !== 'Always')
    errors.notSupported(`${at}.restartPolicy`, restartPolicy, ['Always']);
  if (hasRules) errors.forbidden(`${at}.restartPolicyRules`, 'may not be set without the feature gate ContainerRestartRules');
}

const resizedResources: readonly string[] = ['cpu', 'memory'];
const resizePolicies: readonly string[] = ['NotRequired', 'RestartContainer'];

/** What a resize does to a container (validateResizePolicy). The odd paths without an index are Kubernetes'. */
export function validateResizePolicy(
  { resizePolicy = [] }: Container,
  podRestartPolicy: string | undefined,
  at: string,
  errors: FieldErrors,
): void {
  const here = `${at}.resizePolicy`;
  const seen = new Set<string>();
  for (const [i, { resourceName = '', restartPolicy = '' }] of resizePolicy.entries()) {
    if (seen.has(resourceName)) errors.duplicate(`${here}[${i}]`, resourceName);
    seen.add(resourceName);
    if (resourceName === '') errors.required(here);
    else if (!resizedResources.includes(resourceName)) errors.notSupported(here, resourceName, resizedResources);
    if (restartPolicy === '') errors.required(here);
    else if (!resizePolicies.includes(restartPolicy)) errors.notSupported(here, restartPolicy, resizePolicies);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.invalid(here, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}
