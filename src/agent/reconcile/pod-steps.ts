import { AsyncLocalStorage } from 'node:async_hooks';
import { errorText } from '../../base/error-text.ts';
import { ContainerStartError } from '../../model/container-start-error.ts';
import { allContainers } from '../../model/pod-predicates.ts';
import type { PodRefusal } from '../../model/pod-admission.ts';
import { type Container, formatPod, type Pod, type PodUid } from '../../model/pod.ts';
import type { ContainerHooks } from '../../ports/container-hooks.ts';
import type { ContainerId, ContainerRuntime, ContainerSpec, ObservedPod, SandboxId, SandboxSpec } from '../../ports/container-runtime.ts';
import type { EventReason, EventRecorder } from '../../ports/event-recorder.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { ImagePuller } from '../../ports/image-puller.ts';
import type { PodAction } from '../../ports/pod-plan.ts';
import type { DesiredPod } from '../../ports/pod-store.ts';
import type { Executors } from './execute-plan.ts';
import type { ContainerMade } from './container-spec.ts';
import { ensureImageVolumes } from './image-volumes.ts';
import { newestOf } from './instances.ts';
import { gracePeriodsOf, killGracePeriodSeconds } from './kill-grace-period.ts';
import type { PodMemory } from './pod-memory.ts';
import type { PodParticipants } from './pod-participants.ts';
import type { PodResizes } from './pod-resizes.ts';
import type { StepContext } from './pod-reconciler.ts';
import type { Restarts } from './restarts.ts';
import { startAhead, type StartAhead, type StartAheadDeps } from './start-ahead.ts';

type RuntimeVerbs = Pick<
  ContainerRuntime,
  'createContainer' | 'startContainer' | 'updateContainer' | 'stopContainer' | 'removeContainer' | 'stopSandbox' | 'removeSandbox'
>;

export interface PodStepsDeps {
  readonly runtime: RuntimeVerbs;
  /** As the runtime's, with the pause image made present where it is missing. */
  readonly runSandbox: ContainerRuntime['runSandbox'];
  readonly images: ImagePuller;
  readonly events: EventRecorder;
  readonly report: Pick<Happenings, 'imageVolumesShown'>;
  readonly memory: PodMemory;
  readonly participants: Pick<PodParticipants, 'prepare' | 'sandbox' | 'tearDown'>;
  readonly restarts: Pick<Restarts, 'mark'>;
  readonly hooks: Pick<ContainerHooks, 'postStart' | 'preStop' | 'ended'>;
  /** Decides whether the pod may run here. Resolves with why not. */
  readonly admit: (pod: Pod, signal: AbortSignal) => Promise<PodRefusal | undefined>;
  /** Decides whether the pod may have what it asks for now. Resolves with why not. */
  readonly resize: (pod: Pod, signal: AbortSignal) => Promise<string | undefined>;
  readonly resizes: Pick<PodResizes, 'started' | 'updated' | 'failed'>;
  /** Nothing of the pod is in the engine: releases what it had here, and where it is no longer declared all that is known of it. */
  readonly release: (uid: PodUid, isDeclared: boolean, signal: AbortSignal) => Promise<void>;
  /** Why no pod can be connected to the pods' network now; undefined: it works. */
  readonly networkFault: () => string | undefined;
  /** Called when a container is about to be started, or is removed to be, so that a crash loop is counted. */
  readonly onRestart: (pod: Pod, container: Container, observed: StepContext['observed']) => void;
  /** Rejects with `sandbox` starting where the container is made of what only a running one knows. */
  readonly containerSpec: (
    pod: Pod,
    container: Container,
    made: ContainerMade & { readonly sandbox: 'starting' | 'running' },
    signal: AbortSignal,
  ) => Promise<ContainerSpec>;
}

/** The executor table: one thin step an action. */
export function podSteps({
  runtime,
  runSandbox,
  images,
  events,
  report,
  memory,
  participants,
  restarts,
  hooks,
  admit,
  resize,
  resizes,
  release,
  networkFault,
  onRestart,
  containerSpec,
}: PodStepsDeps): Executors<StepContext> {
  /** An event about the pod as it is declared, or was when it was declared last. */
  const tell = (
    { uid, desired }: Pick<StepContext, 'uid' | 'desired'>,
    type: 'Normal' | 'Warning',
    reason: EventReason,
    message: string,
    container?: string,
  ): void => {
    const pod = desired?.pod ?? memory.declared(uid);
    if (pod) events.record(pod, type, reason, message, container);
  };

  /** With its preStop hook, for which the grace period pays. */
  const stop = async (
    context: StepContext,
    { id, name, graceMs }: { readonly id: ContainerId; readonly name: string; readonly graceMs: number },
    signal: AbortSignal,
  ): Promise<void> => {
    const { uid, desired, observed } = context;
    const pod = desired?.pod ?? memory.declared(uid) ?? podOnLabels(observed, id);
    const container = pod && findContainer(pod, name);
    const hasEnded = observed.containers.some((one) => one.id === id && one.state.phase !== 'running');
    const leftMs = container && !hasEnded ? await hooks.preStop(pod, container, id, graceMs, signal) : graceMs;
    await runtime.stopContainer(id, leftMs, signal);
    hooks.ended(id);
  };

  const createAhead = async (
    { name, attempt }: Extract<PodAction, { do: 'startContainer' }>,
    context: StepContext,
    sandbox: SandboxId,
    signal: AbortSignal,
  ): Promise<StartAhead | undefined> => {
    const { pod } = declared(context);
    const spec: StartAheadDeps['containerSpec'] = (of, container, imageRef, specSignal) =>
      containerSpec(of, container, { attempt, imageRef, sandbox: 'starting' }, specSignal);
    const container = findContainer(pod, name);
    return (
      container && startAhead({ runtime, images, containerSpec: spec }, { pod, container, sandbox, observed: context.observed }, signal)
    );
  };

  return {
    async admit(_action, context, signal) {
      const { pod } = declared(context);
      const refusal = await admit(pod, signal);
      if (!refusal) return undefined;
      events.record(pod, 'Warning', refusal.reason, refusal.message);
      return { note: `refused: ${refusal.reason}: ${refusal.message}` };
    },

    async resize(_action, context, signal) {
      const refusal = await resize(declared(context).pod, signal);
      return refusal === undefined ? undefined : { note: refusal };
    },

    async prepare(_action, context, signal, next) {
      const { pod } = declared(context);
      const fault = next?.do !== 'runSandbox' || pod.spec.hostNetwork ? undefined : networkFault();
      if (fault !== undefined) {
        tell(context, 'Warning', 'NetworkNotReady', `network is not ready: ${fault}`);
        throw new Error(`run the sandbox of ${formatPod(pod)}: network is not ready: ${fault}`);
      }
      const outOfDate = await participants.prepare(pod, signal);
      return outOfDate && { note: `not up to date: ${outOfDate.message}`, retryInMs: outOfDate.retryInMs };
    },

    async runSandbox({ attempt }, context, signal, next) {
      const { pod } = declared(context);
      let ahead: Promise<StartAhead | undefined> | undefined;
      try {
        const spec: SandboxSpec = { hostname: undefined, ...(await participants.sandbox(pod, signal)), attempt };
        // It may take longer than the call that tells of the sandbox, and is none of its parts.
        const asThisStep = AsyncLocalStorage.snapshot();
        const onCreated = (id: SandboxId): void => {
          if (next?.do === 'startContainer') ahead = asThisStep(createAhead, next, context, id, signal);
        };
        context.sandbox = (await runSandbox(pod, spec, signal, onCreated)).id;
      } catch (error) {
        if (!signal.aborted) tell(context, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${errorText(error)}`);
        throw new Error(`run the sandbox of ${formatPod(pod)}`, { cause: error });
      } finally {
        // Also after a failure: nothing of this run may come to pass in the next one.
        context.ahead = await ahead;
      }
    },

    async startContainer({ name, attempt }, context, signal) {
      const { pod } = declared(context);
      const container = containerNamed(pod, name);
      const { sandbox } = context;
      if (sandbox === undefined) throw new Error(`container ${name} has no sandbox to join`);
      let id: ContainerId;
      let imageVolumes: ReadonlyMap<string, string> = new Map();
      const shown = (failed: boolean): void => {
        if (imageVolumes.size === 0) return;
        const mounts = (container.volumeMounts ?? []).filter((mount) => imageVolumes.has(mount.name)).length;
        report.imageVolumesShown({ volumes: imageVolumes.size, mounts, failed });
      };
      try {
        const ahead = context.ahead?.name === name ? context.ahead : undefined;
        ahead?.image.tell();
        const imageRef = ahead?.image.ref ?? (await images.ensureImage(pod, container, signal));
        imageVolumes = await ensureImageVolumes(images, pod, container, signal);
        const made = { attempt, imageRef, imageVolumes, sandbox: 'running' } as const;
        const spec = { ...(await containerSpec(pod, container, made, signal)), ...targetOf(context, name) };
        onRestart(pod, container, context.observed);
        resizes.started(pod, container);
        id = await (ahead ? ahead.created.start(spec, signal) : runtime.startContainer(pod, sandbox, spec, signal));
        shown(false);
      } catch (error) {
        if (signal.aborted) throw error;
        const failure =
          error instanceof ContainerStartError ? error : new ContainerStartError('RunContainerError', errorText(error), { cause: error });
        // What else can be wrong with a container says nothing of its images (incrementImageVolumeMetrics in pkg/kubelet/kuberuntime).
        shown(failure.message.startsWith('ImageVolumeMountFailed'));
        memory.containerFailed(pod.metadata.uid, name, { reason: failure.reason, message: failure.message });
        tell(context, 'Warning', 'Failed', `Error: ${pullReasons.has(failure.reason) ? failure.reason : failure.message}`, name);
        throw failure;
      }
      memory.containerStarted(pod.metadata.uid, name);
      tell(context, 'Normal', 'Created', `Created container ${name}`, name);
      tell(context, 'Normal', 'Started', `Started container ${name}`, name);
      const why = await hooks.postStart(pod, container, id, signal, async (message, agentSignal) => {
        memory.containerFailed(pod.metadata.uid, name, { reason: POST_START_HOOK_ERROR, message });
        // Why is in the pod's status and in the log: events are read by many.
        tell(context, 'Warning', 'FailedPostStartHook', 'PostStartHook failed', name);
        tell(context, 'Normal', 'Killing', 'FailedPostStartHook', name);
        await stop(context, { id, name, graceMs: killGracePeriodSeconds(gracePeriodsOf(pod)) * 1000 }, agentSignal);
      });
      if (why !== undefined) throw new ContainerStartError(POST_START_HOOK_ERROR, why);
    },

    async stopContainer({ id, name, graceMs, why, restart }, context, signal) {
      if (restart) await restarts.mark(context.uid, name, id);
      tell(context, 'Normal', 'Killing', why, name);
      await stop(context, { id, name, graceMs }, signal);
    },
    async updateContainer({ id, name, resource }, context, signal) {
      const { pod } = declared(context);
      const container = containerNamed(pod, name);
      try {
        await runtime.updateContainer(id, pod, container, resource, signal);
      } catch (error) {
        if (!signal.aborted) resizes.failed(pod, errorText(error));
        throw error;
      }
      resizes.updated(pod, container, resource);
    },
    pinContainer({ id, name, cpuset }, context, signal) {
      const { pod } = declared(context);
      return runtime.updateContainer(id, pod, containerNamed(pod, name), { cpuset }, signal);
    },
    async removeContainer({ id, name, restartsAll }, context, signal) {
      await runtime.removeContainer(id, signal);
      const { desired, observed } = context;
      const container = restartsAll && desired && findContainer(desired.pod, name);
      if (container) onRestart(desired.pod, container, observed);
    },
    async stopSandbox({ id }, context, signal) {
      await runtime.stopSandbox(id, signal);
      if (context.sandbox === id) context.sandbox = undefined;
    },
    removeSandbox: ({ id }, _context, signal) => runtime.removeSandbox(id, signal),
    async tearDown(_action, { uid }, signal) {
      await participants.tearDown(uid, signal);
      memory.noteTornDown(uid);
    },
    release: (_action, { uid, desired }, signal) => release(uid, desired !== undefined, signal),
  };
}

/** pkg/kubelet/container ErrPostStartHook */
const POST_START_HOOK_ERROR = 'PostStartHookError';

/** Reasons whose words the image puller has recorded in events of its own: here just their name, as the kubelet has it. */
const pullReasons: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
  'InvalidImageName',
]);

function declared({ desired, uid }: StepContext): DesiredPod {
  if (!desired) throw new Error(`nothing is started for pod ${uid}, which no source declares`);
  return desired;
}

function findContainer({ spec }: Pod, name: string): Container | undefined {
  return allContainers(spec).find((each) => each.name === name);
}

/** Whose processes an ephemeral container is to see (getTargetID in pkg/kubelet/kuberuntime). */
function targetOf({ desired, observed }: StepContext, name: string): Pick<ContainerSpec, 'target'> {
  const target = desired?.pod.spec.ephemeralContainers?.find((each) => each.name === name)?.targetContainerName;
  if (!target) return {};
  const found = newestOf(observed, target);
  if (!found) throw new ContainerStartError('CreateContainerConfigError', `unable to find target container ${target}`);
  return { target: found.id };
}

function containerNamed(pod: Pod, name: string): Container {
  const container = findContainer(pod, name);
  if (!container) throw new Error(`the pod has no container ${name}`);
  return container;
}

/** Of a forgotten pod: as much of it as the container's labels tell (restoreSpecsFromContainerLabels in pkg/kubelet/kuberuntime). */
function podOnLabels({ uid, name, namespace, containers }: ObservedPod, id: ContainerId): Pod | undefined {
  const found = containers.find((one) => one.id === id);
  if (!found?.preStop) return undefined;
  const { preStop, ports, deletionGracePeriodSeconds, terminationGracePeriodSeconds } = found;
  const container: Container = { name: found.name, lifecycle: { preStop }, ...(ports ? { ports } : {}) };
  return {
    metadata: { uid, name, namespace, ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }) },
    spec: { containers: [container], ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }) },
  };
}
