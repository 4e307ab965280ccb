import type { PodUid } from '../../../model/pod.ts';
import type { PodSummary } from '../../../ports/container-runtime.ts';
import {
  CONTAINER_NAME_LABEL,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
  type StringMap,
} from '../../common/identity/pod-labels.ts';
import { type Container, type PodSandbox, PodSandboxState, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { phaseOf } from './container-state.ts';

/** What a kubelet made, dead or alive; what others run by the same runtime is left out. */
export interface ListedParts {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** Two calls, side by side. All of `labels` must hold. */
export async function listParts(client: Pick<CriClient, 'call'>, labels: StringMap, signal: AbortSignal): Promise<ListedParts> {
  const filter = { labelSelector: { ...labels } };
  const { listPodSandbox, listContainers } = RuntimeService.method;
  const [sandboxes, containers] = await Promise.all([
    client.call(listPodSandbox, { filter }, signal),
    client.call(listContainers, { filter }, signal),
  ]);
  return { sandboxes: sandboxes.items.filter(isOfPod), containers: containers.containers.filter(isOfPod) };
}

const isOfPod = ({ labels }: { readonly labels: StringMap }): boolean => Boolean(labels[POD_UID_LABEL]);

type Part = PodSummary['parts'][number];

/** Pods and parts come in an order of their own, so that equal listings are equal values. */
export async function listPods(client: Pick<CriClient, 'call'>, signal: AbortSignal): Promise<readonly PodSummary[]> {
  const { sandboxes, containers } = await listParts(client, {}, signal);
  const pods = new Map<string, { readonly labels: StringMap; readonly parts: Part[] }>();
  const add = (labels: StringMap, part: Part): void => {
    const uid = labels[POD_UID_LABEL] ?? '';
    const pod = pods.get(uid);
    if (pod) pod.parts.push(part);
    else pods.set(uid, { labels, parts: [part] });
  };
  for (const { id, state, labels } of sandboxes)
    add(labels, { id, container: undefined, phase: state === PodSandboxState.SANDBOX_READY ? 'running' : 'exited' });
  for (const { id, state, labels } of containers) add(labels, { id, container: labels[CONTAINER_NAME_LABEL] ?? '', phase: phaseOf(state) });
  return [...pods]
    .sort(([a], [b]) => compare(a, b))
    .map(([uid, { labels, parts }]) => ({
      uid: uid as PodUid,
      name: labels[POD_NAME_LABEL] ?? '',
      namespace: labels[POD_NAMESPACE_LABEL] ?? '',
      parts: parts.sort((a, b) => compare(a.id, b.id)),
    }));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
