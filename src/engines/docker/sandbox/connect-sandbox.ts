import type { ContainerInspectInfo } from 'dockerode';
import { errorText } from '../../../base/error-text.ts';
import type { Pod } from '../../../model/pod.ts';
import type { SandboxId } from '../../../ports/container-runtime.ts';
import type { SandboxNetwork } from '../../../ports/sandbox-network.ts';
import { POD_NAME_LABEL, POD_NAMESPACE_LABEL } from '../../common/identity/pod-labels.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import { stopContainer } from '../containers/stop-container.ts';

/** A sandbox has nothing to lose (pkg/kubelet/dockershim defaultSandboxGracePeriod). */
const SANDBOX_GRACE_MS = 10_000;

export interface Connecting {
  readonly client: EngineClient;
  /** Undefined: the engine connects sandboxes itself. */
  readonly network: SandboxNetwork | undefined;
}

/** A sandbox that the engine leaves without a network, to be connected by others. */
export const isLeftToPlugin = ({ HostConfig }: ContainerInspectInfo): boolean => HostConfig.NetworkMode === 'none';

/** Connects a running sandbox, unless that is done; resolves with its addresses. When it fails, undoes what was done and stops the sandbox, so that another takes its place. */
export async function connectSandbox(
  { client, network }: Connecting,
  pod: Pod,
  { info: { Id, State }, isNew }: { readonly info: ContainerInspectInfo; readonly isNew: boolean },
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (!network) return [];
  const id = Id as SandboxId;
  const before = isNew ? [] : await network.addresses(id, State.Pid, signal);
  if (before.length > 0) return before;
  const name = JSON.stringify(pod.metadata.name);
  try {
    if (!isNew) await network.tearDown(id, pod.metadata, State.Pid, signal);
    return await network.setUp(pod, id, State.Pid, signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const errors = [`failed to set up sandbox container "${id}" network for pod ${name}: ${errorText(cause)}`];
    const also = (what: string) => (error: unknown) => errors.push(`failed to ${what} for pod ${name}: ${errorText(error)}`);
    await network.tearDown(id, pod.metadata, State.Pid, signal).catch(also(`clean up sandbox container "${id}" network`));
    await stopContainer(client, id, SANDBOX_GRACE_MS, signal).catch(also(`stop sandbox container "${id}"`));
    throw new Error(errors.length > 1 ? `[${errors.join(', ')}]` : errors[0], { cause });
  }
}

/** Releases what the pod's sandboxes that are dead or gone still have of the network, such as ports of the node that a new one wants. */
export async function disconnectDead({ client, network }: Connecting, { metadata }: Pod, signal: AbortSignal): Promise<void> {
  if (!network) return;
  for (const id of await network.holders(metadata)) {
    const info = await inspectContainer(client, id, signal);
    if (!info?.State.Running) await network.tearDown(id, metadata, undefined, signal);
  }
}

/** Releases what a sandbox, running, dead or gone, has of the network. */
export async function disconnectSandbox({ client, network }: Connecting, id: SandboxId, signal: AbortSignal): Promise<void> {
  if (!network) return;
  const info = await inspectContainer(client, id, signal);
  if (info && !isLeftToPlugin(info)) return;
  const { [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace } = info?.Config.Labels ?? {};
  const owner = name !== undefined && namespace !== undefined ? { name, namespace } : undefined;
  await network.tearDown(id, owner, info?.State.Running ? info.State.Pid : undefined, signal);
}

/** Stops a sandbox whether or not its network can be released; rejects where it could not be, to be repeated. */
export async function stopSandbox(connecting: Connecting, id: SandboxId, signal: AbortSignal): Promise<void> {
  const [disconnected] = await Promise.allSettled([disconnectSandbox(connecting, id, signal)]);
  await stopContainer(connecting.client, id, SANDBOX_GRACE_MS, signal);
  if (disconnected.status === 'rejected') throw disconnected.reason;
}
