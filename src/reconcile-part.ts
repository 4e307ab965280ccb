import { containerSpec, type ContainerSpecFacts } from './reconcile/container-spec.ts';
import { planPod } from './reconcile/plan-pod.ts';
import { PodAddresses } from './reconcile/pod-addresses.ts';
import { PodMemory } from './reconcile/pod-memory.ts';
import { podSteps } from './reconcile/pod-steps.ts';
import { RestartBackoff } from './reconcile/restart-backoff.ts';
import type { RestartMarks } from './reconcile/restart-marks.ts';
import { generatePodStatus, withoutUnstarted } from './status/generate-pod-status.ts';
import type { Clock } from './base/clock.ts';
import { jitter } from './base/jitter.ts';
import { type PodRefusal, rejectPod, wasRejected } from './model/pod-admission.ts';
import { isTerminalPhase } from './model/pod-predicates.ts';
import type { Pod, PodUid } from './model/pod.ts';
import { formatTime } from './model/time.ts';
import type { ContainerRuntime, ObservedPod } from './ports/container-runtime.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { ImagePuller } from './ports/image-puller.ts';
import type { ServiceAccountTokens } from './ports/service-account-tokens.ts';
import type { PlanFacts, Trace } from './ports/pod-plan.ts';
import type { DesiredPod } from './ports/pod-store.ts';
import type { StatusManager } from './ports/status-manager.ts';
import type { EnginePart } from './engine-part.ts';
import type { KubeletParts } from './kubelet.ts';
import type { LifecyclePart } from './lifecycle-part.ts';
import type { PodObjects } from './objects/pod-objects.ts';
import type { PodNetwork } from './network/pod-network.ts';
import type { PodVolumes } from './volumes/pod-volumes.ts';

export interface ReconcilePartDeps {
  readonly clock: Clock;
  readonly engine: EnginePart;
  readonly images: ImagePuller;
  readonly volumes: PodVolumes;
  readonly network: PodNetwork;
  readonly objects: PodObjects;
  readonly tokens: Pick<ServiceAccountTokens, 'forget'>;
  /** The services that the pod may be told of; undefined while they are not known. */
  readonly services: (pod: Pod, signal: AbortSignal) => Promise<ContainerSpecFacts['services']>;
  /** What the node has for pods. */
  readonly allocatable: () => Readonly<Record<string, string>>;
  readonly statuses: StatusManager;
  readonly lifecycle: Pick<LifecyclePart, 'probes' | 'hooks'>;
  readonly events: EventRecorder;
  readonly trace: Trace;
  readonly syncFrequencyMs: number;
  /** The node's addresses, primary first. */
  readonly hostIps: readonly string[];
  /** Undefined: what was to be started again is forgotten with this process. */
  readonly restartMarks?: RestartMarks;
  /** Asked once about each new pod: why it may not run here; undefined: it may. */
  readonly admit?: (pod: Pod) => PodRefusal | undefined;
  /** Chance, for spreading resyncs: from 0 up to 1. */
  readonly random?: () => number;
}

/** Everything that moves one pod, joined: the planner's facts, the executors, the status, and what is forgotten at the end. */
export function reconcilePart(deps: ReconcilePartDeps): KubeletParts['reconcile'] {
  const { clock, images, volumes, network, objects, tokens, statuses, events, trace, hostIps } = deps;
  const { runtime } = deps.engine;
  const { probes, hooks } = deps.lifecycle;
  const memory = new PodMemory();
  const backoff = new RestartBackoff(clock);
  const addresses = new PodAddresses(runtime, hostIps);

  const factsFor = (
    desired: DesiredPod | undefined,
    observed: ObservedPod,
    at: Pick<PlanFacts, 'life' | 'terminatingSinceMs'>,
  ): PlanFacts => {
    const status = statuses.get(observed.uid);
    if (at.life !== 'syncing') probes.ending(observed.uid);
    return {
      nowMs: clock.now(),
      ...at,
      restartNotBeforeMs: (pod, container, at) => backoff.notBeforeMs(pod, container, at),
      liveness: (id) => probes.liveness(id),
      startup: (id) => probes.startup(id),
      startTimeMs: desired && startedAtMs(observed),
      phase: status?.phase,
      restartCount: (name) =>
        [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find((each) => each.name === name)?.restartCount,
      previousPod: memory.declared(observed.uid, desired?.pod),
    };
  };

  /** A container that a crash loop holds back shows that, not how its last start failed. */
  const startErrors = (pod: Pod, observed: ObservedPod): ReadonlyMap<string, { reason: string; message: string }> => {
    const errors = new Map(memory.startFailures(pod.metadata.uid));
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      if (backoff.notBeforeMs(pod, container, observed) === undefined) continue;
      errors.set(container.name, { reason: 'CrashLoopBackOff', message: backoff.message(pod, container) });
    }
    return errors;
  };

  /** Seen for the first time, and nothing of it is here: what runs already has been admitted once. */
  const isNew = ({ metadata, status }: Pod, { containers, sandboxes }: ObservedPod): boolean =>
    statuses.get(metadata.uid) === undefined &&
    containers.length === 0 &&
    sandboxes.length === 0 &&
    metadata.deletionTimestamp === undefined &&
    !isTerminalPhase(status?.phase);

  const startedAtMs = ({ uid, sandboxes }: ObservedPod): number =>
    memory.startedAtMs(uid, Math.min(clock.now(), ...sandboxes.map(({ createdAtMs }) => createdAtMs)));

  const prepared = async (pod: Pod, signal: AbortSignal): Promise<void> => {
    objects.register(pod);
    await volumes.prepare(pod, signal);
  };
  const forgetObjects = (uid: PodUid): void => {
    objects.unregister(uid);
    tokens.forget(uid);
  };
  const forgetLife = (uid: PodUid): void => {
    probes.forget(uid);
    hooks.forget(uid);
  };

  /** Pods whose marks have been read: those of an agent before this one. */
  const recalled = new Set<PodUid>();
  const recallRestarts = async ({ uid, containers }: ObservedPod): Promise<void> => {
    if (!deps.restartMarks || recalled.has(uid) || !containers.some(({ state }) => state.phase === 'exited')) return;
    const marks = await deps.restartMarks.load(uid);
    recalled.add(uid);
    for (const [container, id] of marks) memory.containerRestarts(uid, container, id);
  };

  const executors = podSteps({
    runtime,
    runSandbox: sandboxRunner(deps.engine, images),
    images,
    events,
    memory,
    hooks,
    prepare: (pod, signal) => prepared(pod, signal),
    network: {
      fault: deps.engine.networkFault,
      sandbox: (pod) => {
        addresses.forget(pod.metadata.uid);
        return network.sandbox(pod);
      },
    },
    onRestart: async (uid, container, id) => deps.restartMarks?.mark(uid, container, id),
    onStart: (pod, container, observed) => backoff.started(pod, container, observed),
    containerSpec: async (pod, container, attempt, imageRef, signal) =>
      containerSpec(
        pod,
        container,
        attempt,
        imageRef,
        {
          podIps: () => addresses.of(pod, signal),
          hostIp: hostIps[0],
          mounts: async (env) => [
            ...(await volumes.mountsFor(pod, container, env)),
            ...(await network.hostsMounts(pod, container, await addresses.of(pod, signal))),
          ],
          objects: objects.for(pod),
          services: await deps.services(pod, signal),
          allocatable: deps.allocatable(),
          onInvalidNames: (message) => events.record(pod, 'Warning', 'InvalidEnvironmentVariableNames', message),
        },
        signal,
      ),
  });

  return {
    runtime: {
      observePod: async (uid, signal) => {
        const pod = await runtime.observePod(uid, signal);
        addresses.seen(pod);
        await recallRestarts(pod);
        return memory.withRestarts(pod);
      },
    },
    plan: planPod,
    factsFor,
    executors,
    onHeld: (pod, held) => {
      for (const { name, notBeforeMs } of held) {
        if (!memory.isHeldAnew(pod.metadata.uid, name, notBeforeMs)) continue;
        events.record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', name);
      }
    },
    statuses,
    trace,
    resyncMs: () => jitter(deps.syncFrequencyMs, 0.5, deps.random),
    statusOf: ({ pod }, observed) => {
      const told = statuses.get(pod.metadata.uid) ?? pod.status;
      if (told && wasRejected(told)) return told;
      const refusal = isNew(pod, observed) ? deps.admit?.(pod) : undefined;
      if (refusal) {
        events.record(pod, 'Warning', refusal.reason, refusal.message);
        return rejectPod(pod, refusal);
      }
      probes.follow(pod);
      const startTimeMs = startedAtMs(observed);
      const status = generatePodStatus(pod, withoutUnstarted(observed), {
        nowMs: clock.now(),
        previous: statuses.get(pod.metadata.uid),
        startErrors: startErrors(pod, observed),
        startup: (id) => probes.startup(id),
        readiness: (id) => probes.readiness(id),
        hostIPs: hostIps,
        runtimeName: 'docker',
        ending: pod.metadata.deletionTimestamp !== undefined,
        running: observed.containers.some(({ state }) => state.phase === 'running'),
        startTimeMs,
      });
      if (status.reason === 'DeadlineExceeded' && told?.reason !== status.reason)
        events.record(pod, 'Normal', status.reason, status.message ?? '');
      probes.told(pod.metadata.uid, status);
      return { ...status, startTime: formatTime(startTimeMs) };
    },
    refresh: async (pod, observed, signal) => {
      const { uid } = pod.metadata;
      const runs = observed.containers.some(({ state }) => state.phase === 'running');
      if (!isTerminalPhase(statuses.get(uid)?.phase)) {
        if (runs) await prepared(pod, signal);
        return;
      }
      forgetObjects(uid);
      if (!runs) await volumes.tearDown(uid);
    },
    release: async (uid) => {
      forgetLife(uid);
      forgetObjects(uid);
      await volumes.remove(uid);
    },
    cleanUp: async (uid: PodUid) => {
      forgetLife(uid);
      forgetObjects(uid);
      await volumes.remove(uid);
      memory.forget(uid);
      recalled.delete(uid);
      addresses.forget(uid);
      backoff.forget(uid);
      statuses.forget(uid);
    },
  };
}

/** The pause image is pulled when the engine turns out to lack it, so that no sandbox pays for asking. */
function sandboxRunner({ runtime, missingSandboxImage }: EnginePart, images: ImagePuller): ContainerRuntime['runSandbox'] {
  return async (pod, spec, signal) => {
    try {
      return await runtime.runSandbox(pod, spec, signal);
    } catch (error) {
      const image = missingSandboxImage(error);
      if (image === undefined) throw error;
      await images.ensureImage(pod, { name: 'POD', image, imagePullPolicy: 'IfNotPresent' }, signal);
      return runtime.runSandbox(pod, spec, signal);
    }
  };
}
