import { hasPodLevelResources } from '../model/pod-level-resources.ts';
import type { Container } from '../model/pod.ts';
import { Quantity } from '../model/quantity.ts';
import type { ContainerUsage } from '../ports/pod-stats.ts';
import type { MeasuredPod } from './rank-pods.ts';
import type { StarvedResource } from './starved-resource.ts';

/** What was exceeded, and what was found. */
export interface ExceededThreshold {
  readonly threshold: Quantity;
  readonly available: Quantity;
}

export interface EvictionMessage {
  /** Of the pod's status and of its event. */
  readonly message: string;
  /** Of the event. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** What is said of a pod that goes because the node is short of something (evictionMessage in pkg/kubelet/eviction). */
export function evictionMessage(
  resource: StarvedResource,
  { pod, usage }: MeasuredPod,
  exceeded: ExceededThreshold | undefined,
): EvictionMessage {
  let message = `The node was low on resource: ${resource}. `;
  if (exceeded) message += `Threshold quantity: ${exceeded.threshold.canonical()}, available: ${exceeded.available.canonical()}. `;
  if (usage === undefined) return { message, annotations: {} };

  const annotations: Record<string, string> = {};
  const ofPod = pod.spec.resources?.requests?.memory;
  if (resource === 'memory' && hasPodLevelResources(pod) && ofPod !== undefined && usage.memory) {
    const used = bytes(usage.memory.workingSetBytes).canonical();
    message += `Pod ${pod.metadata.name} was using ${used}, request is ${Quantity.fromJson(ofPod).canonical()}, has larger consumption of ${resource}. `;
    annotations['offending_pod'] = pod.metadata.name;
    annotations['offending_pod_usage'] = used;
  }
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const exceeding = usage.containers.flatMap((container) => {
    const spec = containers.find(({ name }) => name === container.name);
    const used = usedOf(container, resource);
    const request = spec && requestOf(spec, resource);
    return request !== undefined && used !== undefined && used.cmp(request) > 0
      ? [{ name: container.name, used: used.canonical(), request: request.canonical() }]
      : [];
  });
  for (const { name, used, request } of exceeding)
    message += `Container ${name} was using ${used}, request is ${request}, has larger consumption of ${resource}. `;
  annotations['offending_containers'] = exceeding.map(({ name }) => name).join(',');
  annotations['offending_containers_usage'] = exceeding.map(({ used }) => used).join(',');
  annotations['starved_resource'] = resource;
  return { message, annotations };
}

const bytes = (count: number): Quantity => Quantity.of(count, 'BinarySI');

const requestOf = ({ resources }: Container, resource: string): Quantity => {
  const text = resources?.requests?.[resource];
  return text === undefined ? Quantity.zero : Quantity.fromJson(text);
};

/** Undefined: not known, or nothing that a container asks for. */
function usedOf({ memory, rootfs, logs }: ContainerUsage, resource: StarvedResource): Quantity | undefined {
  switch (resource) {
    case 'memory':
      return memory && bytes(memory.workingSetBytes);
    case 'ephemeral-storage':
      if (rootfs?.usedBytes === undefined || logs?.usedBytes === undefined) return undefined;
      return bytes(rootfs.usedBytes + logs.usedBytes);
    case 'inodes':
    case 'pids':
      return undefined;
    default:
      return resource satisfies never;
  }
}
