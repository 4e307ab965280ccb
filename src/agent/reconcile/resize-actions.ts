import type { Container, Pod, PodSpec } from '../../model/pod.ts';
import { Quantity } from '../../model/quantity.ts';
import type { ContainerId } from '../../ports/container-runtime.ts';
import type { ActuatedResources } from '../../ports/pod-plan.ts';

type Requirements = NonNullable<PodSpec['resources']>;

/** Millicores and bytes; 0 is not set. */
export interface ResizableAmounts {
  readonly cpuRequest: number;
  readonly cpuLimit: number;
  readonly memoryRequest: number;
  readonly memoryLimit: number;
}

export interface ContainerToUpdate {
  readonly id: ContainerId;
  readonly name: string;
  readonly desired: ResizableAmounts;
  readonly current: ResizableAmounts;
}

/** In the order in which they are to be made: what shrinks goes before what grows. */
export type ContainersToUpdate = Readonly<Record<'cpu' | 'memory', readonly ContainerToUpdate[]>>;

export const noUpdates: ContainersToUpdate = { cpu: [], memory: [] };

export type Resize = 'none' | 'in place' | 'restart';

const kinds = ['memory', 'cpu'] as const;

/** What a container gets of what its pod and it ask for: the pod's limit stands in for its own. */
function amountsOf(pod: Requirements | undefined, own: Requirements | undefined): ResizableAmounts {
  return {
    cpuRequest: milliCpu(own?.requests),
    cpuLimit: milliCpu(own?.limits) || milliCpu(pod?.limits),
    memoryRequest: bytes(own?.requests),
    memoryLimit: bytes(own?.limits) || bytes(pod?.limits),
  };
}

/** Most containers ask for nothing, and are looked at all the same. */
const milliCpu = (amounts: Requirements['limits']): number =>
  amounts?.['cpu'] === undefined ? 0 : Number(Quantity.fromJson(amounts['cpu']).milliValue());
const bytes = (amounts: Requirements['limits']): number =>
  amounts?.['memory'] === undefined ? 0 : Number(Quantity.fromJson(amounts['memory']).value());

/** Whether a container that runs does so with other resources than it was last given. */
export function isResized({ spec }: Pick<Pod, 'spec'>, { name, resources }: Container, actuated: ActuatedResources): boolean {
  const desired = amountsOf(spec.resources, resources);
  const current = amountsOf(actuated.pod, actuated.container(name));
  return (['cpuRequest', 'cpuLimit', 'memoryRequest', 'memoryLimit'] as const).some((each) => desired[each] !== current[each]);
}

/**
 * Whether a running container's resources differ from those that it was last given, and the updates with this one's among them
 * (computePodResizeAction in pkg/kubelet/kuberuntime). Throws QuantityParseError.
 */
export function resizeContainer(
  pod: Pod,
  container: Container,
  id: ContainerId,
  actuated: ActuatedResources,
  updates: ContainersToUpdate,
): { readonly resize: Resize; readonly updates: ContainersToUpdate } {
  const { name, resizePolicy = [] } = container;
  if (pod.spec.resources === actuated.pod && container.resources === actuated.container(name)) return { resize: 'none', updates };
  const desired = amountsOf(pod.spec.resources, container.resources);
  const current = amountsOf(actuated.pod, actuated.container(name));
  const changed = kinds.filter(
    (kind) => desired[`${kind}Limit`] !== current[`${kind}Limit`] || desired[`${kind}Request`] !== current[`${kind}Request`],
  );
  if (changed.length === 0) return { resize: 'none', updates };
  const policyOf = (kind: string): string | undefined => resizePolicy.find(({ resourceName }) => resourceName === kind)?.restartPolicy;
  if (changed.some((kind) => policyOf(kind) === 'RestartContainer')) return { resize: 'restart', updates };
  const update: ContainerToUpdate = { id, name, desired, current };
  const next: Record<'cpu' | 'memory', readonly ContainerToUpdate[]> = { ...updates };
  for (const kind of changed) {
    const which = desired[`${kind}Limit`] === current[`${kind}Limit`] ? (`${kind}Request` as const) : (`${kind}Limit` as const);
    next[kind] = desired[which] > current[which] ? [...next[kind], update] : [update, ...next[kind]];
  }
  return { resize: 'in place', updates: next };
}

/** Whether what the pod as a whole asks for differs from what it was last given (computePodLevelResourcesResizeAction). */
export function podLevelChanged({ spec }: Pick<Pod, 'spec'>, actuated: Requirements | undefined): boolean {
  // Most pods ask for nothing as a whole.
  if (spec.resources === actuated) return false;
  const desired = amountsOf(undefined, spec.resources);
  const current = amountsOf(undefined, actuated);
  return (['cpuRequest', 'cpuLimit', 'memoryRequest', 'memoryLimit'] as const).some((each) => desired[each] !== current[each]);
}
