import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import { newestFirst } from '../../../model/newest-first.ts';
import type { PodUid } from '../../../model/pod.ts';
import type { ContainerId, ObservedContainer, ObservedPod, ObservedSandbox, SandboxId } from '../../../ports/container-runtime.ts';
import type { TerminationMessages } from '../../common/containers/termination-messages.ts';
import { readContainerLabels } from '../../common/identity/container-labels.ts';
import { POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import {
  type Container,
  type ContainerStatus,
  NamespaceMode,
  type PodSandbox,
  PodSandboxState,
  type PodSandboxStatus,
  RuntimeService,
  Signal,
} from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';
import { resourcesOfOci } from '../containers/linux-resources.ts';
import { type CriMessageOwner, messageOwner } from '../containers/message-owner.ts';
import { containerState } from './container-state.ts';
import { criTimeMs } from './cri-time.ts';
import type { CriImageFacts } from './image-facts.ts';
import { listParts } from './list-pods.ts';
import { type VerboseInfo, verboseInfo } from './verbose-info.ts';

export interface Observing {
  readonly client: Pick<CriClient, 'call'>;
  readonly images: CriImageFacts;
  readonly messages: TerminationMessages<CriMessageOwner>;
}

/** Two listings and the status of each part, side by side. What vanishes in between is left out. */
export async function observePod(observing: Observing, uid: PodUid, signal: AbortSignal): Promise<ObservedPod> {
  const { sandboxes, containers } = await listParts(observing.client, { [POD_UID_LABEL]: uid }, signal);
  const [seenSandboxes, seenContainers] = await Promise.all([
    Promise.all(sandboxes.map((each) => unlessGone(sandbox(observing, each, signal)))),
    Promise.all(containers.map((each) => unlessGone(container(observing, each, signal)))),
  ]);
  const { [POD_NAME_LABEL]: name = '', [POD_NAMESPACE_LABEL]: namespace = '' } = (sandboxes[0] ?? containers[0])?.labels ?? {};
  return {
    uid,
    name,
    namespace,
    sandboxes: seenSandboxes.filter((seen) => seen !== undefined).sort(newestFirst),
    containers: seenContainers.filter((seen) => seen !== undefined).sort(newestFirst),
  };
}

async function unlessGone<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (isGrpcError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function sandbox({ client }: Observing, { id }: PodSandbox, signal: AbortSignal): Promise<ObservedSandbox | undefined> {
  const { status } = await client.call(RuntimeService.method.podSandboxStatus, { podSandboxId: id }, signal);
  if (status === undefined) return undefined;
  return {
    id: id as SandboxId,
    attempt: status.metadata?.attempt ?? 0,
    createdAtMs: criTimeMs(status.createdAt) ?? 0,
    ready: status.state === PodSandboxState.SANDBOX_READY,
    network: isOnNode(status) ? 'node' : 'pod',
    ips: addresses(status),
  };
}

const isOnNode = ({ linux }: PodSandboxStatus): boolean => linux?.namespaces?.options?.network === NamespaceMode.NODE;

/** The pod's own, primary first; none on the node's network, whatever the runtime says. */
export function addresses(status: PodSandboxStatus): readonly string[] {
  const { ip = '', additionalIps = [] } = status.network ?? {};
  return isOnNode(status) ? [] : [ip, ...additionalIps.map((each) => each.ip)].filter((each) => each !== '');
}

async function container(
  { client, images, messages }: Observing,
  { id, podSandboxId }: Container,
  signal: AbortSignal,
): Promise<ObservedContainer | undefined> {
  const { status, info } = await client.call(RuntimeService.method.containerStatus, { containerId: id, verbose: true }, signal);
  if (status === undefined) return undefined;
  const { metadata, imageRef, stopSignal } = status;
  const note = readContainerLabels(status);
  const [state, facts] = await Promise.all([
    messages.enrich(messageOwner(status), note, containerState(status), signal),
    imageRef === '' ? undefined : images.get(imageRef, signal),
  ]);
  const verbose = verboseInfo(info);
  const user = verbose.user ?? userOf(status);
  const image = status.image?.image || imageRef;
  return {
    id: id as ContainerId,
    name: metadata?.name ?? '',
    image,
    imageId: imageRef,
    imageNames: [...new Set([image, imageRef, ...(facts?.names ?? [])])],
    specHash: note.hash,
    attempt: metadata?.attempt ?? 0,
    sandboxId: podSandboxId as SandboxId,
    createdAtMs: criTimeMs(status.createdAt) ?? 0,
    state,
    ...resources(status, verbose),
    stopSignal: stopSignal === Signal.RUNTIME_DEFAULT ? undefined : Signal[stopSignal],
    ...(user && { user }),
    terminationGracePeriodSeconds: note.terminationGracePeriodSeconds,
    deletionGracePeriodSeconds: note.deletionGracePeriodSeconds,
    preStop: note.preStop,
    ports: note.preStop && note.ports,
  };
}

/** As the specification of the container has them by now, or as a runtime says it that does not show it. */
function resources({ resources: told }: ContainerStatus, verbose: VerboseInfo): Pick<ObservedContainer, 'resources' | 'cpuset'> {
  const linux = told?.linux;
  const found =
    verbose.resources ??
    (linux && {
      cpu: {
        shares: Number(linux.cpuShares),
        quota: Number(linux.cpuQuota),
        period: Number(linux.cpuPeriod),
        cpus: linux.cpusetCpus,
        mems: linux.cpusetMems,
      },
      memory: { limit: Number(linux.memoryLimitInBytes) },
    });
  return found === undefined ? {} : { resources: resourcesOfOci(found), cpuset: found.cpu?.cpus ?? '' };
}

function userOf({ user }: ContainerStatus): ObservedContainer['user'] {
  if (user?.linux === undefined) return undefined;
  const { uid, gid, supplementalGroups } = user.linux;
  const groups = supplementalGroups.map(Number);
  return { uid: Number(uid), gid: Number(gid), ...(groups.length > 0 && { supplementalGroups: groups }) };
}
