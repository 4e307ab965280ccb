import type { ContainerInspectInfo } from 'dockerode';
import { errorText } from '../../../base/error-text.ts';
import type { Pod } from '../../../model/pod.ts';
import type { DnsConfig } from '../../../model/resolv-conf.ts';
import { SandboxImageMissingError } from '../../../model/sandbox-image-missing-error.ts';
import type { RunningSandbox, SandboxId, SandboxSpec } from '../../../ports/container-runtime.ts';
import { checkHandler } from './check-handler.ts';
import { type Connecting, connectSandbox, disconnectDead, isLeftToPlugin } from './connect-sandbox.ts';
import { createContainer, type Created, type Creating, startCreated } from '../containers/create-container.ts';
import { type CreateRequest, namedCgroupParent } from '../containers/create-body.ts';
import { SANDBOX_TYPE, TYPE_LABEL } from '../identity/docker-labels.ts';
import { daemonWords, isNotFound } from '../client/engine-errors.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import { sandboxAddresses } from './sandbox-addresses.ts';
import { sandboxCreateRequest } from './sandbox-create-request.ts';
import { rewriteSandboxResolvConf } from './sandbox-resolv-conf.ts';

export interface SandboxRunning extends Creating, Connecting {
  readonly image: string;
}

/**
 * Three engine calls, and what a plugin does where the network is not the engine's job. Rejects with SandboxImageMissingError, or an Error
 * in dockershim's words; a sandbox that did not start is left to observe.
 */
export async function runSandbox(
  context: SandboxRunning,
  pod: Pod,
  spec: SandboxSpec,
  signal: AbortSignal,
  onCreated: (id: SandboxId) => void = () => {},
): Promise<RunningSandbox> {
  signal.throwIfAborted();
  const quotedName = JSON.stringify(pod.metadata.name);
  const network = pod.spec.hostNetwork ? undefined : context.network;
  if (network) await disconnectDead(context, pod, signal);
  await checkHandler(context.client, spec.handler, signal);
  const { id: dockerId, adopted } = await create(context, pod, request(context, pod, spec), signal);
  const id = dockerId as SandboxId;
  onCreated(id);
  if (!adopted?.State.Running) {
    try {
      await startCreated(context.client, id, signal);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw new Error(`failed to start sandbox container for pod ${quotedName}: ${daemonWords(cause)}`, { cause });
    }
  }
  if (pod.spec.hostNetwork && !spec.dns) return { id, ips: [] };
  const info = await inspectContainer(context.client, id, signal);
  if (!info) throw new Error(`failed to inspect sandbox container for pod ${quotedName}: it is gone`);
  if (spec.dns) await setResolvConf(pod, info, spec.dns);
  if (pod.spec.hostNetwork) return { id, ips: [] };
  const plugged = network && isLeftToPlugin(info);
  return { id, ips: plugged ? await connectSandbox(context, pod, { info, isNew: !adopted }, signal) : sandboxAddresses(info) };
}

async function setResolvConf(pod: Pod, { ResolvConfPath }: ContainerInspectInfo, dns: DnsConfig): Promise<void> {
  try {
    await rewriteSandboxResolvConf(ResolvConfPath, dns);
  } catch (cause) {
    throw new Error(`rewrite resolv.conf failed for pod ${JSON.stringify(pod.metadata.name)}: ${errorText(cause)}`, { cause });
  }
}

function request({ image, network: plugin }: SandboxRunning, pod: Pod, spec: SandboxSpec): CreateRequest {
  const network = plugin ? 'plugin' : 'docker';
  try {
    const { attempt, hostname, handler } = spec;
    const cgroupParent = namedCgroupParent(spec.cgroupParent);
    return sandboxCreateRequest({ pod, attempt, image, hostname, handler, network, cgroupParent, extraSupplementalGroups: [] });
  } catch (cause) {
    const name = JSON.stringify(pod.metadata.name);
    throw new Error(`failed to make sandbox docker config for pod ${name}: ${daemonWords(cause)}`, { cause });
  }
}

async function create(context: SandboxRunning, pod: Pod, what: CreateRequest, signal: AbortSignal): Promise<Created> {
  const { name } = pod.metadata;
  try {
    return await createContainer(context, what, isLiveSandbox, signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (isNotFound(cause)) throw new SandboxImageMissingError(name, context.image, daemonWords(cause), { cause });
    throw new Error(`failed to create a sandbox for pod ${JSON.stringify(name)}: ${daemonWords(cause)}`, { cause });
  }
}

/** The name already says pod and attempt. A dead one has no namespaces any more. */
function isLiveSandbox({ Config, State }: ContainerInspectInfo): boolean {
  return Config.Labels[TYPE_LABEL] === SANDBOX_TYPE && (State.Running || State.Status === 'created');
}
