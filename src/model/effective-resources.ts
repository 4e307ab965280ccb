import { isPodLevelResource } from './pod-level-resources.ts';
import type { Container, Pod, PodSpec } from './pod.ts';
import { Quantity } from './quantity.ts';

type Requirements = NonNullable<PodSpec['resources']>;

/** What can change while a container runs. */
export type ResizableResource = 'cpu' | 'memory';

/** What a container's resources come to: where it has no limit of its own, the pod's limits it (GetLimits in pkg/kubelet/util). Throws QuantityParseError. */
export function effectiveResources({ spec }: Pick<Pod, 'spec'>, { resources = {} }: Pick<Container, 'resources'>): Requirements {
  const ofPod = Object.entries(spec.resources?.limits ?? {}).filter(([name]) => isPodLevelResource(name));
  const own = Object.entries(resources.limits ?? {});
  const limits = { ...Object.fromEntries(ofPod), ...Object.fromEntries(own.filter(([, amount]) => !Quantity.fromJson(amount).isZero())) };
  return { requests: resources.requests ?? {}, limits };
}
