import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import type { PodUid } from '../../../model/pod.ts';
import { type PodSandboxStatus, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { goingOn } from '../client/going-on.ts';
import { type ContainerRemoving, removeContainer } from '../containers/remove-container.ts';
import { listParts } from '../observe/list-pods.ts';
import type { SandboxConfigs } from './sandbox-configs.ts';

const { stopPodSandbox, removePodSandbox, podSandboxStatus, listContainers } = RuntimeService.method;

/** Ends what still runs in it, and releases its network. Succeeds when it is gone; rejects where the network could not be released, to be repeated. */
export async function stopSandbox(client: Pick<CriClient, 'call'>, podSandboxId: string, signal: AbortSignal): Promise<void> {
  await unlessGone(goingOn((own) => client.call(stopPodSandbox, { podSandboxId }, own), signal));
}

/** With the containers in it; with the last sandbox of a pod what is left of the pod's logs goes, too. Succeeds when it is gone. */
export async function removeSandbox(
  removing: ContainerRemoving & { readonly configs: SandboxConfigs },
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { client, configs, directories } = removing;
  const found = await unlessGone(client.call(podSandboxStatus, { podSandboxId: id }, signal));
  if (found?.status === undefined) return;
  const { containers } = await client.call(listContainers, { filter: { podSandboxId: id } }, signal);
  await Promise.all(containers.map((container) => removeContainer(removing, container.id, signal)));
  await removeSandboxAlone(client, id, signal);
  configs.forget(id);
  const pod = podOf(found.status);
  if (pod === undefined) return;
  const left = await listParts(client, { [POD_UID_LABEL]: pod.metadata.uid }, signal);
  if (left.sandboxes.length === 0 && left.containers.length === 0) await directories.removeOfPod(pod);
}

export async function removeSandboxAlone(client: Pick<CriClient, 'call'>, podSandboxId: string, signal: AbortSignal): Promise<void> {
  await unlessGone(client.call(removePodSandbox, { podSandboxId }, signal));
}

/** Undefined: no kubelet made it. */
function podOf({ labels }: PodSandboxStatus): { readonly metadata: { name: string; namespace: string; uid: PodUid } } | undefined {
  const { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid } = labels;
  return name && namespace && uid ? { metadata: { name, namespace, uid: uid as PodUid } } : undefined;
}

async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isGrpcError(error, 'NotFound')) return undefined;
    throw error;
  }
}
