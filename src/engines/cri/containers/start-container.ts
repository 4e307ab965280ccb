import { isDeepStrictEqual } from 'node:util';
import { ContainerStartError, type ContainerStartReason } from '../../../model/container-start-error.ts';
import type { Pod } from '../../../model/pod.ts';
import type { ContainerId, ContainerSpec, CreatedContainer, SandboxId } from '../../../ports/container-runtime.ts';
import { effectiveSecurityContext, type ImageUser, isSet, nonRootViolation } from '../../common/containers/security-context.ts';
import type { MessageFile } from '../../common/containers/termination-messages.ts';
import { type MessageMounting, withMessageFile } from '../../common/containers/with-message-file.ts';
import { ContainerState, RuntimeService } from '../api/runtime_pb.js';
import { runtimeWords } from '../client/grpc-words.ts';
import type { CriFeatures } from '../features/engine-features.ts';
import type { CriImageFacts } from '../observe/image-facts.ts';
import type { SandboxConfigs } from '../sandbox/sandbox-configs.ts';
import { type ContainerConfig, containerConfig } from './container-config.ts';
import { type ContainerCreating, createContainer } from './create-container.ts';
import type { CriNode } from './linux-resources.ts';
import type { CriMessageOwner } from './message-owner.ts';
import { inItsUserNamespace } from './user-namespace.ts';
import { mayLack, whatRuntimeLacks } from './what-runtime-lacks.ts';

export interface ContainerStarting extends ContainerCreating, MessageMounting<CriMessageOwner> {
  readonly images: CriImageFacts;
  readonly features: { readonly now: (signal: AbortSignal) => Promise<Pick<CriFeatures, 'cdi' | 'imageSubPaths'>> };
  readonly configs: SandboxConfigs;
  readonly node: CriNode;
  readonly seccompProfileRoot: string;
  readonly seccompDefault: boolean;
}

/** A container as it was created, before its start. */
interface Made {
  readonly id: string;
  readonly config: ContainerConfig;
  readonly attempt: number;
  readonly message: MessageFile | undefined;
  /** It was there already, and runs or has run. */
  readonly adopted: boolean;
}

/** Creates a container in a sandbox. Rejects with ContainerStartError or the signal's reason. */
export async function createAhead(
  context: ContainerStarting,
  pod: Pod,
  sandbox: SandboxId,
  spec: ContainerSpec,
  signal: AbortSignal,
): Promise<CreatedContainer> {
  signal.throwIfAborted();
  const made = await make(context, pod, sandbox, spec, signal);
  return { start: (now, startSignal) => startContainer(context, pod, sandbox, now, startSignal, made) };
}

/**
 * Creates and starts a container, or starts the one that was created `ahead`. Safe to repeat: one of the same spec that runs or has run is
 * taken as it is. Rejects with ContainerStartError or the signal's reason.
 */
export async function startContainer(
  context: ContainerStarting,
  pod: Pod,
  sandbox: SandboxId,
  spec: ContainerSpec,
  signal: AbortSignal,
  ahead?: Made,
): Promise<ContainerId> {
  signal.throwIfAborted();
  const { id, adopted } = await make(context, pod, sandbox, spec, signal, ahead);
  if (!adopted) await orStartError('RunContainerError', signal, () => start(context, id, signal));
  await context.directories.link({ pod, container: spec.container.name, attempt: spec.attempt }, id);
  return id as ContainerId;
}

/** Succeeds when it runs already: the answer to an earlier call was lost. */
async function start({ client }: ContainerStarting, containerId: string, signal: AbortSignal): Promise<void> {
  try {
    await client.call(RuntimeService.method.startContainer, { containerId }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const found = await client.call(RuntimeService.method.containerStatus, { containerId }, signal).catch(() => undefined);
    if (found?.status?.state !== ContainerState.CONTAINER_RUNNING) throw error;
  }
}

/** The container that `spec` asks for, unless that is what was made `ahead`. */
async function make(
  context: ContainerStarting,
  pod: Pod,
  sandbox: SandboxId,
  spec: ContainerSpec,
  signal: AbortSignal,
  ahead?: Made,
): Promise<Made> {
  const { container, attempt } = spec;
  await orStartError('CreateContainerError', signal, () => checkAbilities(context, spec, signal));
  const { message, ...mounted } = await withMessageFile(context, pod, spec, ahead);
  const config = await configOf(context, pod, mounted.spec, signal);
  if (ahead && isDeepStrictEqual(ahead.config, config)) return ahead;
  const { id, adopted } = await orStartError('CreateContainerError', signal, async () => {
    await context.directories.makeForContainer(pod, container.name);
    const sandboxConfig = await context.configs.of(sandbox, pod, spec.cgroupParent, signal);
    return createContainer(
      context,
      pod,
      { podSandboxId: sandbox, config: inItsUserNamespace(config, sandboxConfig), sandboxConfig },
      signal,
    );
  });
  if (!adopted) await message?.clear();
  return { id, config, attempt, message, adopted };
}

/** The runtime is asked only where it matters. */
async function checkAbilities({ features }: ContainerStarting, spec: ContainerSpec, signal: AbortSignal): Promise<void> {
  const lacking = mayLack(spec) ? whatRuntimeLacks(await features.now(signal), spec) : undefined;
  if (lacking !== undefined) throw new Error(lacking);
}

async function configOf(context: ContainerStarting, pod: Pod, spec: ContainerSpec, signal: AbortSignal): Promise<ContainerConfig> {
  const imageUser = await orStartError('CreateContainerConfigError', signal, () => userOf(context.images, pod, spec, signal));
  const violation = nonRootViolation(pod, spec.container, imageUser);
  if (violation !== undefined) throw new ContainerStartError('CreateContainerConfigError', violation);
  return orStartError('CreateContainerConfigError', signal, async () => containerConfig({ ...context, pod, spec, imageUser }));
}

/** The image is asked only when the spec leaves the user to it. An image that is not there says root: the create will tell. */
async function userOf(images: CriImageFacts, pod: Pod, { container, imageRef }: ContainerSpec, signal: AbortSignal): Promise<ImageUser> {
  if (isSet(effectiveSecurityContext(pod, container).runAsUser)) return { uid: 0n };
  return (await images.get(imageRef, signal))?.user ?? { uid: 0n };
}

async function orStartError<T>(reason: ContainerStartReason, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    signal.throwIfAborted();
    throw new ContainerStartError(reason, runtimeWords(cause), { cause });
  }
}
