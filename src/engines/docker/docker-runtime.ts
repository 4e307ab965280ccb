import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { LogPolicy } from '../../model/log-policy.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ContainerRuntime, EngineInfo } from '../../ports/container-runtime.ts';
import type { SandboxNetwork } from '../../ports/sandbox-network.ts';
import { disconnectSandbox, stopSandbox } from './sandbox/connect-sandbox.ts';
import type { NodeResources } from './containers/container-resources.ts';
import { readContainerLabels } from '../common/identity/container-labels.ts';
import { fromDockerLabels, SANDBOX_ID_LABEL } from './identity/docker-labels.ts';
import { POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL, type StringMap } from '../common/identity/pod-labels.ts';
import { parseDockerName } from './identity/docker-names.ts';
import type { EngineClient } from './client/engine-client.ts';
import { engineEvents } from './observe/engine-events.ts';
import { EngineLogFiles } from './logs/engine-log-files.ts';
import { ImageFactsCache } from './images/image-facts.ts';
import { inspectContainer } from './client/inspect-container.ts';
import type { DockerFeatures } from './observe/engine-features.ts';
import type { KnownFeatures } from '../common/known-features.ts';
import { listContainers, listPods } from './observe/list-pods.ts';
import type { LogLinks, LoggedContainer } from './logs/log-links.ts';
import { text } from './client/whole-answers.ts';
import { observePod } from './observe/observe-pod.ts';
import { deleteContainer } from './containers/remove-container.ts';
import { PrimaryGroups } from './containers/primary-groups.ts';
import { ProcessUsers } from './observe/process-users.ts';
import { runSandbox } from './sandbox/run-sandbox.ts';
import { createAhead, startContainer } from './containers/start-container.ts';
import { stopContainer } from './containers/stop-container.ts';
import { updateContainer } from './containers/update-container.ts';
import { UnmadeContainers } from './containers/unmade-containers.ts';
import { TerminationMessages } from '../common/containers/termination-messages.ts';

import { type DockerMessageOwner, messageOwner } from './containers/message-owner.ts';
import { writtenLog } from './logs/container-logs.ts';

export interface DockerRuntimeOptions {
  readonly client: EngineClient;
  readonly features: Pick<KnownFeatures<DockerFeatures>, 'now'>;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** --root-dir: termination messages lie under it. */
  readonly rootDir: string;
  readonly seccompProfileRoot: string;
  /** --pod-infra-container-image */
  readonly podInfraContainerImage: string;
  /** Whether containers that ask for no seccomp profile have the engine's own. */
  readonly seccompDefault: boolean;
  /** Whether the machine labels processes and files. */
  readonly selinux: boolean;
  readonly podLogsDir: string;
  /** Undefined: as the engine's own settings have it. */
  readonly logPolicy: () => LogPolicy | undefined;
  readonly logLinks: LogLinks;
  readonly node: NodeResources;
  /** Who connects sandboxes in the engine's place. */
  readonly network: SandboxNetwork | undefined;
}

/** The Docker engine as a ContainerRuntime. Names, labels and settings are dockershim's, so that either agent adopts what the other started. */
export function dockerRuntime(options: DockerRuntimeOptions): ContainerRuntime {
  const { client, clock, random, log, rootDir, podInfraContainerImage, logLinks, network } = options;
  const images = new ImageFactsCache(client, clock);
  const connecting = { client, network };
  const messages = new TerminationMessages(
    ({ info }: DockerMessageOwner, wanted, signal) => writtenLog(client, info, wanted, signal),
    log,
    rootDir,
  );
  const users = new ProcessUsers();
  const unmade = new UnmadeContainers();
  const starting = {
    ...options,
    images,
    primaryGroups: new PrimaryGroups(client),
    logFiles: new EngineLogFiles(client, clock),
    messages,
    unmade,
  };

  const removeContainer = async (id: string, signal: AbortSignal): Promise<void> => {
    const info = await inspectContainer(client, id, signal);
    if (!info) return;
    const logged = loggedContainer(info.Id, info.Name, info.Config.Labels);
    if (logged) await logLinks.unlink(logged);
    await deleteContainer(client, id, signal);
    await messages.remove(messageOwner(info), readContainerLabels(fromDockerLabels(info.Config.Labels)));
  };

  return {
    hints: engineEvents({ client, clock, random, log, unmade }),
    info: (signal) => engineInfo(client, signal),
    listPods: (signal) => listPods(client, signal),
    observePod: (uid, signal) => observePod({ ...connecting, images, messages, users }, uid, signal),
    runSandbox: (pod, spec, signal, onCreated) =>
      runSandbox({ ...connecting, clock, log, random, unmade, image: podInfraContainerImage }, pod, spec, signal, onCreated),
    createContainer: (pod, sandbox, spec, signal) => createAhead(starting, pod, sandbox, spec, signal),
    startContainer: (pod, sandbox, spec, signal) => startContainer(starting, pod, sandbox, spec, signal),
    updateContainer: (id, pod, container, change, signal) => updateContainer(options, id, pod, container, change, signal),
    stopContainer: (id, graceMs, signal) => stopContainer(client, id, graceMs, signal),
    removeContainer,
    stopSandbox: (id, signal) => stopSandbox(connecting, id, signal),
    removeSandbox: async (id, signal) => {
      const contained = await listContainers(client, [`${SANDBOX_ID_LABEL}=${id}`], signal);
      await Promise.all(contained.map((container) => removeContainer(container.id, signal)));
      await disconnectSandbox(connecting, id, signal);
      await deleteContainer(client, id, signal);
    },
  };
}

async function engineInfo(client: EngineClient, signal: AbortSignal): Promise<EngineInfo> {
  const { Version: version, ApiVersion: apiVersion } = await client.about('version', signal);
  return { name: (await client.dialect(signal)).name, version: text(version), apiVersion: text(apiVersion) };
}

/** Undefined when the name is not one of ours. */
function loggedContainer(id: string, dockerName: string, labels: StringMap): LoggedContainer | undefined {
  const { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace, [POD_UID_LABEL]: uid } = labels;
  if (name === undefined || namespace === undefined || uid === undefined) return undefined;
  try {
    const { container, attempt } = parseDockerName(dockerName, 'container');
    return { pod: { metadata: { name, namespace, uid: uid as PodUid } }, container, attempt, id };
  } catch {
    return undefined;
  }
}
