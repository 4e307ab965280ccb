import type { V1ResourceFieldSelector } from '@kubernetes/client-node';
import type { ResourceList } from './node.ts';
import { isPodLevelResource } from './pod-level-resources.ts';
import type { Container, RawPod } from './pod.ts';
import { Quantity } from './quantity.ts';
import type { Wire } from './wire.ts';

type ResourceFieldSelector = Pick<Wire<V1ResourceFieldSelector>, 'resource' | 'divisor'>;

/** Carries the message of k8s.io/kubernetes/pkg/api/v1/resource. */
export class ContainerResourceError extends Error {
  override readonly name = 'ContainerResourceError';
}

/** Those that the node limits where the container does not. Huge pages are never overcommitted, so always limited. */
const commonResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const amount = (list: ResourceList | undefined, name: string): Quantity =>
  list && Object.hasOwn(list, name) ? Quantity.fromJson(list[name]) : Quantity.zero;

function limitOf(container: Container, name: string, allocatable: ResourceList): Quantity {
  const own = amount(container.resources?.limits, name);
  return own.isZero() && commonResources.has(name) ? amount(allocatable, name) : own;
}

/**
 * A container's "limits.cpu", "requests.memory" and so on in units of the divisor, divided in floating point and rounded up
 * (ExtractContainerResourceValue). With `allocatable`, an unset limit is the node's. Throws ContainerResourceError, QuantityParseError.
 */
export function containerResource(selector: ResourceFieldSelector, container: Container, allocatable: ResourceList = {}): string {
  const [, list, name = ''] = /^(limits|requests)\.(.*)$/s.exec(selector.resource) ?? [];
  if (list === undefined || !(commonResources.has(name) || name.startsWith('hugepages-'))) {
    throw new ContainerResourceError(`unsupported container resource : ${selector.resource}`);
  }
  const quantity = list === 'limits' ? limitOf(container, name, allocatable) : amount(container.resources?.requests, name);
  const given = Quantity.fromJson(selector.divisor);
  const divisor = given.isZero() ? Quantity.of(1) : given;
  const [dividend, unit] = name === 'cpu' ? [quantity.milliValue(), divisor.milliValue()] : [quantity.value(), divisor.value()];
  return String(BigInt(Math.ceil(Number(dividend) / Number(unit))));
}

/** The same for a container of `pod`, init containers included, by its name; before the node's limits count those of the pod as a whole. */
export function containerResourceByName(
  selector: ResourceFieldSelector,
  pod: Pick<RawPod, 'spec'>,
  containerName: string,
  allocatable: ResourceList = {},
): string {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const container = containers.find(({ name }) => name === containerName);
  if (container === undefined) throw new ContainerResourceError(`container ${containerName} not found`);
  return containerResource(selector, container, limitsAround(pod, allocatable));
}

/** What limits a container without limits of its own (defaultPodLimitsForDownwardAPI): a resource that the node has not got stays unlimited. */
function limitsAround({ spec }: Pick<RawPod, 'spec'>, allocatable: ResourceList): ResourceList {
  const ofPod = spec?.resources?.limits;
  const counts = (name: string): boolean => isPodLevelResource(name) && !amount(ofPod, name).isZero();
  return Object.fromEntries(Object.entries(allocatable).map(([name, had]) => [name, (counts(name) && ofPod?.[name]) || had]));
}
