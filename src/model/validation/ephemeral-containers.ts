import type { V1EphemeralContainer } from '@kubernetes/client-node';
import type { Given, PodSpec } from './given.ts';
import { validateContainers, type ContainerSurroundings } from './containers.ts';
import type { FieldErrors } from './field-error.ts';
import { validateImageSpaces } from './image-spaces.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';

/** In the order of the type; a container that comes and goes has no part in the pod's upkeep. */
const refused = [
  'ports',
  'resources',
  'volumeDevices',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'securityContext',
] as const;

const isSet = (value: unknown): boolean => value !== undefined && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0);

export function validateEphemeralContainers(spec: PodSpec, pod: ContainerSurroundings, at: string, errors: FieldErrors): void {
  const names = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name ?? ''));
  for (const [i, container] of (spec.ephemeralContainers ?? []).entries()) {
    const here = `${at}[${i}]`;
    const { name = '', targetContainerName = '' } = container;
    if (targetContainerName !== '' && !names.has(targetContainerName)) errors.notFound(`${here}.targetContainerName`, targetContainerName);
    if (name === '') {
      errors.required(here, 'ephemeralContainer requires a name');
      continue;
    }
    // Kubernetes takes it for a list of one, and its paths show it.
    validateContainers([container], pod, here, errors);
    validateImageSpaces([container], here, errors);
    if (names.has(name)) errors.duplicate(`${here}.name`, name);
    names.add(name);
    validateAllowedFields(container, here, errors, pod.options);
  }
}

function validateAllowedFields(
  container: Given<V1EphemeralContainer>,
  at: string,
  errors: FieldErrors,
  { writtenEmpty }: PodValidationOptions,
): void {
  for (const field of refused) {
    const value = container[field];
    // A pointer is set even when what it points to is empty; `resources` is no pointer.
    const set = field === 'resources' || field === 'ports' || field === 'volumeDevices' ? isSet(value) : value !== undefined;
    const emptied = [field, `${field}.limits`, `${field}.requests`].some((path) => writtenEmpty.has(`${at}.${path}`));
    if (set || emptied) errors.forbidden(`${at}.${field}`, 'cannot be set for an Ephemeral Container');
  }
}
