import type { ContainerInspectInfo } from 'dockerode';
import { newestFirst } from '../../../model/newest-first.ts';
import type { PodUid } from '../../../model/pod.ts';
import { stopSignalOf } from '../../../model/stop-signal.ts';
import type {
  ContainerId,
  ContainerState,
  ObservedContainer,
  ObservedPod,
  ObservedSandbox,
  SandboxId,
} from '../../../ports/container-runtime.ts';
import { type Connecting, isLeftToPlugin } from '../sandbox/connect-sandbox.ts';
import { resourcesOf } from '../containers/container-resources.ts';
import { type ContainerNote, readContainerLabels } from '../../common/identity/container-labels.ts';
import { containerState, dockerTimeMs } from './container-state.ts';
import { fromDockerLabels, SANDBOX_ID_LABEL } from '../identity/docker-labels.ts';
import { POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import type { ImageFacts, ImageFactsCache } from '../images/image-facts.ts';
import type { Dialect } from '../client/dialect.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import { type ListedContainer, listContainers } from './list-pods.ts';
import { sandboxAddresses } from '../sandbox/sandbox-addresses.ts';
import type { ProcessUsers } from './process-users.ts';
import type { TerminationMessages } from '../../common/containers/termination-messages.ts';

import { type DockerMessageOwner, messageOwner } from '../containers/message-owner.ts';

export interface Observing extends Connecting {
  readonly images: ImageFactsCache;
  readonly messages: TerminationMessages<DockerMessageOwner>;
  readonly users: ProcessUsers;
}

/** One listing and an inspection of each part, side by side. What vanishes in between is left out. */
export async function observePod(
  { client, network, images, messages, users }: Observing,
  uid: PodUid,
  signal: AbortSignal,
): Promise<ObservedPod> {
  const { imageId } = await client.dialect(signal);
  const listed = await listContainers(client, [`${POD_UID_LABEL}=${uid}`], signal);
  const parts = await Promise.all(
    listed.map(async (part) => {
      const [info, image] = await Promise.all([
        inspectContainer(client, part.id, signal),
        part.kind === 'container' && part.info.ImageID !== '' ? images.get(part.info.ImageID, signal) : undefined,
      ]);
      const plugged = network && part.kind === 'sandbox' && info?.State.Running && isLeftToPlugin(info);
      const ips = plugged ? await network.addresses(info.Id as SandboxId, info.State.Pid, signal) : undefined;
      if (info === undefined) return undefined;
      const note = readContainerLabels(fromDockerLabels(info.Config.Labels));
      const state =
        part.kind === 'container' ? await messages.enrich(messageOwner(info), note, containerState(info), signal) : containerState(info);
      const user = part.kind === 'container' ? await users.of(info) : undefined;
      return { part, info, image, ips, note, state, user };
    }),
  );
  const found = parts.filter((part) => part !== undefined);
  const { pod = '', namespace = '' } = found[0]?.part.name ?? {};
  return {
    uid,
    name: pod,
    namespace,
    sandboxes: found.flatMap(({ part, info, ips }) => (part.kind === 'sandbox' ? [sandbox(part, info, ips)] : [])).sort(newestFirst),
    containers: found
      .flatMap(({ part, info, image, note, state, user }) =>
        part.kind === 'container' ? [{ ...container(part, info, image, note, state, imageId), ...(user && { user }) }] : [],
      )
      .sort(newestFirst),
  };
}

function sandbox({ name }: ListedContainer, info: ContainerInspectInfo, ips: readonly string[] = sandboxAddresses(info)): ObservedSandbox {
  const onHost = info.HostConfig.NetworkMode === 'host';
  return {
    id: info.Id as SandboxId,
    attempt: name.attempt,
    createdAtMs: dockerTimeMs(info.Created) ?? 0,
    ready: info.State.Running,
    network: onHost ? 'node' : 'pod',
    ips: onHost ? [] : ips,
  };
}

function container(
  { name }: ListedContainer,
  info: ContainerInspectInfo,
  image: ImageFacts | undefined,
  note: ContainerNote,
  state: ContainerState,
  imageId: Dialect['imageId'],
): ObservedContainer {
  const asked = info.Config.Image;
  const config: { readonly Image: string; readonly StopSignal?: unknown } = info.Config;
  const { repoTags = [], repoDigests = [] } = image ?? {};
  const sandboxId = info.Config.Labels[SANDBOX_ID_LABEL];
  return {
    id: info.Id as ContainerId,
    name: name.container,
    image: repoTags.includes(asked) ? asked : (repoTags[0] ?? asked),
    imageId: imageId(info.Image, repoDigests[0]),
    imageNames: [asked, info.Image, ...repoTags, ...repoDigests],
    specHash: note.hash,
    attempt: name.attempt,
    sandboxId: sandboxId as SandboxId | undefined,
    createdAtMs: dockerTimeMs(info.Created) ?? 0,
    state,
    resources: resourcesOf(info.HostConfig),
    cpuset: info.HostConfig.CpusetCpus,
    stopSignal: stopSignalOf(config.StopSignal),
    terminationGracePeriodSeconds: note.terminationGracePeriodSeconds,
    deletionGracePeriodSeconds: note.deletionGracePeriodSeconds,
    preStop: note.preStop,
    ports: note.preStop && note.ports,
  };
}
