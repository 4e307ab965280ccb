import { allContainers } from '../../model/pod-predicates.ts';
import type { Container, Pod, PodStatus, PodUid } from '../../model/pod.ts';
import type { ContainerAccess } from '../../ports/container-access.ts';
import type { ContainerId, ContainerRuntime, ObservedPod, SandboxId } from '../../ports/container-runtime.ts';
import type { PodStore } from '../../ports/pod-store.ts';
import { HttpError } from '../../ports/route.ts';

/** What the server may see of the pods here, and how it reaches into them. */
export interface ServedPods {
  readonly pods: Pick<PodStore, 'list'>;
  /** What the agent last said of a pod. */
  readonly statusOf: (uid: PodUid) => PodStatus | undefined;
  readonly runtime: Pick<ContainerRuntime, 'listPods' | 'observePod'>;
  readonly access: ContainerAccess;
  /** The uid of the API object that stands for a static pod: clients of the API server name it by that. */
  readonly mirrorUidOf?: (pod: Pod) => string | undefined;
}

/**
 * The pod of that name. While one of the same name still ends, the newer one is meant. A uid that is asked for must be its own, or
 * that of its mirror pod. Rejects with 404; `missing` is what it then says.
 */
export function findPod(
  served: Pick<ServedPods, 'pods' | 'mirrorUidOf'>,
  params: Readonly<Record<string, string>>,
  missing = 'pod does not exist',
): Pod {
  const { namespace, pod: name, uid = '' } = params;
  const named = served.pods.list().filter(({ pod: { metadata } }) => metadata.name === name && metadata.namespace === namespace);
  const pod = (named.findLast(({ pod: { metadata } }) => metadata.deletionTimestamp === undefined) ?? named.at(-1))?.pod;
  if (pod === undefined) throw new HttpError(404, missing);
  if (uid !== '' && uid !== pod.metadata.uid && uid !== served.mirrorUidOf?.(pod)) throw new HttpError(404, 'pod not found');
  return pod;
}

/** Among all containers of the pod: init, app and ephemeral ones (pkg/kubelet/container GetContainerSpec). */
export function containerSpec({ spec }: Pod, name: string): Container | undefined {
  return allContainers(spec).find((container) => container.name === name);
}

/** The container of that name that runs; undefined when none does. */
export async function runningContainer(
  { runtime }: Pick<ServedPods, 'runtime'>,
  pod: Pod,
  name: string,
  signal: AbortSignal,
): Promise<ContainerId | undefined> {
  const { containers } = await runtime.observePod(pod.metadata.uid, signal);
  return containers.find((container) => container.name === name && container.state.phase === 'running')?.id;
}

/** The sandbox whose network is the pod's: the one that runs, else the newest. */
export function networkSandbox({ sandboxes }: Pick<ObservedPod, 'sandboxes'>): SandboxId | undefined {
  return (sandboxes.find(({ ready }) => ready) ?? sandboxes[0])?.id;
}
