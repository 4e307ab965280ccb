import { isDeepStrictEqual } from 'node:util';
import type { ContainerInspectInfo } from 'dockerode';
import { ContainerStartError, type ContainerStartReason } from '../../../model/container-start-error.ts';
import type { LogPolicy } from '../../../model/log-policy.ts';
import type { Pod } from '../../../model/pod.ts';
import type { ContainerId, ContainerSpec, CreatedContainer, SandboxId } from '../../../ports/container-runtime.ts';
import { containerCreateRequest, type ContainerInput } from './container-create-request.ts';
import { HASH_ANNOTATION } from '../../common/identity/container-labels.ts';
import type { NodeResources } from './container-resources.ts';
import { createContainer, type Creating, startCreated } from './create-container.ts';
import { type CreateRequest, namedCgroupParent } from './create-body.ts';
import { SANDBOX_ID_LABEL } from '../identity/docker-labels.ts';
import { daemonWords } from '../client/engine-errors.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { inspectContainer } from '../client/inspect-container.ts';
import type { EngineLogFiles } from '../logs/engine-log-files.ts';
import type { ImageFactsCache } from '../images/image-facts.ts';
import { type LogConfig, logConfig } from '../logs/log-rotation.ts';
import type { LogLinks } from '../logs/log-links.ts';
import { seccompOpts } from './seccomp.ts';
import { seccompProfile } from '../../common/containers/seccomp-profile.ts';
import { dockerUser } from './security-opts.ts';
import {
  effectiveSecurityContext,
  type ImageUser,
  isSet,
  nonRootViolation,
  parseImageUser,
} from '../../common/containers/security-context.ts';
import type { DockerFeatures } from '../observe/engine-features.ts';
import type { KnownFeatures } from '../../common/known-features.ts';
import type { PrimaryGroups } from './primary-groups.ts';
import { deleteContainer } from './remove-container.ts';
import type { MessageFile } from '../../common/containers/termination-messages.ts';
import { type MessageMounting, withMessageFile } from '../../common/containers/with-message-file.ts';
import type { DockerMessageOwner } from './message-owner.ts';

export interface ContainerStarting extends Creating, MessageMounting<DockerMessageOwner> {
  readonly images: ImageFactsCache;
  readonly features: Pick<KnownFeatures<DockerFeatures>, 'now'>;
  readonly primaryGroups: PrimaryGroups;
  readonly logFiles: EngineLogFiles;
  readonly logLinks: LogLinks;
  readonly node: NodeResources;
  readonly podLogsDir: string;
  /** Undefined: as the engine's own settings have it. */
  readonly logPolicy: () => LogPolicy | undefined;
  readonly seccompProfileRoot: string;
  readonly seccompDefault: boolean;
}

/** A container as it was created, before its start. */
interface Made {
  readonly id: string;
  readonly request: CreateRequest;
  readonly attempt: number;
  readonly message: MessageFile | undefined;
  /** Set when it was there already and fits. */
  readonly adopted: ContainerInspectInfo | undefined;
}

/** Creates a container in a sandbox that need not run yet: one engine call. Rejects with ContainerStartError or the signal's reason. */
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
 * Creates and starts a container: two engine calls, the links to its log on the side; one where it was created `ahead`. Safe to repeat: one of
 * the same spec that runs or has run is taken as it is. Rejects with ContainerStartError or the signal's reason.
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
  const { client, logLinks } = context;
  const logFiles = context.logFiles.locate();
  const { id, adopted } = await make(context, pod, sandbox, spec, signal, ahead);
  const logged = { pod, container: spec.container.name, attempt: spec.attempt, id };
  let failed = false;
  const linked = logFiles.then((fileOf) => !failed && fileOf && logLinks.link(logged, fileOf(id)).then(() => true));
  try {
    if (adopted === undefined) {
      await orStartError('RunContainerError', `failed to start container "${id}": `, signal, () => startIn(client, sandbox, id, signal));
    }
  } catch (error) {
    // The container's removal takes its links away: they must not come after that.
    failed = true;
    if (context.logFiles.known) await linked;
    throw error;
  }
  const done = linked.then(async (made) => {
    if (made) await logLinks.linkLegacy(logged);
  });
  // An engine that is slow to tell about itself does not hold up the pod.
  if (context.logFiles.known) await done;
  return id as ContainerId;
}

/** Where starting it would start a dead sandbox with it, that is looked at before: a pod's sandbox is made again, not revived. */
async function startIn(client: EngineClient, sandbox: SandboxId, id: string, signal: AbortSignal): Promise<void> {
  if ((await client.dialect(signal)).startsDeadSandbox && !(await inspectContainer(client, sandbox, signal))?.State.Running)
    throw new Error(`cannot join the namespaces of a sandbox that does not run: ${sandbox}`);
  await startCreated(client, id, signal);
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
  const { message, ...mounted } = await withMessageFile(context, pod, spec, ahead);
  const request = await prepare(context, pod, sandbox, mounted.spec, signal);
  if (ahead && isDeepStrictEqual(ahead.request, request)) return ahead;
  const { id, adopted } = await orStartError('CreateContainerError', '', signal, () =>
    createContainer(context, request, (holder) => isSame(holder, request), signal),
  );
  if (adopted === undefined) await message?.clear();
  return { id, request, attempt: spec.attempt, message, adopted };
}

async function prepare(
  context: ContainerStarting,
  pod: Pod,
  sandboxId: SandboxId,
  spec: ContainerSpec,
  signal: AbortSignal,
): Promise<CreateRequest> {
  const { container } = spec;
  await orStartError('CreateContainerError', '', signal, () => checkCdi(context, spec, signal));
  const imageUser = await orStartError('CreateContainerConfigError', '', signal, () => userOf(context.images, pod, spec, signal));
  const violation = nonRootViolation(pod, container, imageUser);
  if (violation !== undefined) throw new ContainerStartError('CreateContainerConfigError', violation);
  const where = `failed to generate security options for container ${JSON.stringify(container.name)}: `;
  const seccomp = await orStartError(
    'CreateContainerError',
    `${where}failed to generate seccomp security options for container: `,
    signal,
    async () => seccompOpts(seccompProfile(pod, container, context.seccompProfileRoot), context.seccompDefault),
  );
  const input = {
    pod,
    spec,
    sandboxId,
    imageUser,
    seccomp,
    node: context.node,
    podLogsDir: context.podLogsDir,
    logConfig: await orStartError('CreateContainerError', '', signal, () => logConfigOf(context, signal)),
    cgroupParent: namedCgroupParent(spec.cgroupParent),
    extraSupplementalGroups: [...new Set(spec.mounts.flatMap(({ supplementalGroup }) => supplementalGroup ?? []))],
    asksForHostname: (await context.client.dialect(signal)).joinsHostnameWhenAsked,
    asksForOneMount: await orStartError('CreateContainerError', '', signal, () => asksForOneMount(context, spec, signal)),
  };
  if (pod.spec.securityContext?.supplementalGroupsPolicy !== 'Strict') return containerCreateRequest(input);
  const primaryGroup = await orStartError('CreateContainerError', "failed to find the user's primary group: ", signal, () =>
    primaryGroupOf(context, input, signal),
  );
  return containerCreateRequest({ ...input, primaryGroup });
}

/** The engine is asked only where it matters: one that does not know of CDI would make the container without its devices. */
async function checkCdi({ features }: ContainerStarting, { cdiDevices = [] }: ContainerSpec, signal: AbortSignal): Promise<void> {
  if (cdiDevices.length === 0 || (await features.now(signal)).cdi) return;
  const what = `device ${cdiDevices[0]}: this engine has no CDI, by which it is named`;
  throw new Error(`${what}: use Docker from 28 on, with the feature cdi switched on where it is off (daemon.json: features, cdi)`);
}

async function logConfigOf({ client, features, logPolicy }: ContainerStarting, signal: AbortSignal): Promise<LogConfig | undefined> {
  const { logs } = await client.dialect(signal);
  const policy = logPolicy();
  if (policy === undefined && logs.driver === undefined) return undefined;
  const driver = logs.driver ?? (await features.now(signal)).loggingDriver;
  return logConfig(driver, policy, logs.oneFile);
}

/** The engine is asked only where it matters. Older ones take no notice of what they do not know, so that they are not asked for it. */
async function asksForOneMount({ features }: ContainerStarting, { mounts }: ContainerSpec, signal: AbortSignal): Promise<boolean> {
  if (!mounts.some(({ readOnly }) => readOnly)) return false;
  const { asksForOneMount: asks } = await features.now(signal);
  const recursive = mounts.find(({ recursiveReadOnly }) => recursiveReadOnly);
  if (recursive && !asks)
    throw new Error(`mount ${recursive.containerPath}: this engine cannot make it read-only with all that is below it`);
  return asks;
}

/**
 * Undefined where the spec says it. The container of which the image is read is the one to be made, as the engine would have it: one that
 * is left when this fails is replaced by the next attempt. Without its mounts: an engine that reads from it makes every source that is not
 * there yet a directory, and the user is the image's alone.
 */
async function primaryGroupOf(context: ContainerStarting, input: ContainerInput, signal: AbortSignal): Promise<number | undefined> {
  const { client, primaryGroups } = context;
  const { pod, spec, imageUser } = input;
  const security = effectiveSecurityContext(pod, spec.container);
  if (isSet(security.runAsGroup)) return undefined;
  const withContainer = async (read: (id: string) => Promise<number>): Promise<number> => {
    const request = containerCreateRequest({ ...input, spec: { ...spec, mounts: [], imageMounts: [] } });
    const { id, adopted } = await createContainer(context, request, (holder) => isSame(holder, request), signal);
    const group = await read(id);
    if (adopted === undefined) await deleteContainer(client, id, signal);
    return group;
  };
  return primaryGroups.of(spec.imageRef, dockerUser(security, imageUser), withContainer, signal);
}

/** The image is asked only when the spec leaves the user to it. An image that is not there says root: the create will tell. */
async function userOf(images: ImageFactsCache, pod: Pod, { container, imageRef }: ContainerSpec, signal: AbortSignal): Promise<ImageUser> {
  if (isSet(effectiveSecurityContext(pod, container).runAsUser)) return { uid: 0n };
  return parseImageUser((await images.get(imageRef, signal))?.user ?? '');
}

/**
 * Of the same image and command, for the same sandbox; name and attempt are the same already. One that was never started is not: what else it
 * was made of, an environment from a ConfigMap, may have changed since.
 */
function isSame({ Config, State }: ContainerInspectInfo, { body }: CreateRequest): boolean {
  const labels = [SANDBOX_ID_LABEL, `annotation.${HASH_ANNOTATION}`];
  const isAsAsked = (asked: readonly string[] | undefined, found: unknown): boolean =>
    asked === undefined || isDeepStrictEqual(asked, found);
  return (
    ['running', 'exited'].includes(State.Status) &&
    labels.every((label) => Config.Labels[label] === body.Labels[label]) &&
    isAsAsked(body.Entrypoint, Config.Entrypoint) &&
    isAsAsked(body.Cmd, Config.Cmd)
  );
}

/** From when docker printed runc's nested quotes (pkg/kubelet/dockershim transformStartContainerError). */
const executableNotFound = '\\\\\\": executable file not found';

/** Between quotes stands what the pod wants run: any text, of any length. */
function isExecutableNotFound(words: string): boolean {
  return words.split('\n').some((line) => line.lastIndexOf(executableNotFound) > line.indexOf(executableNotFound.slice(0, 4)));
}

async function orStartError<T>(reason: ContainerStartReason, before: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    const words = daemonWords(cause);
    throw new ContainerStartError(reason, before + (isExecutableNotFound(words) ? 'executable not found in $PATH' : words), { cause });
  }
}
