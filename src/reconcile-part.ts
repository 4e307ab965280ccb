import type { Clock } from './base/clock.ts';
import { jitter } from './base/jitter.ts';
import type { EnginePart } from './engine-part.ts';
import type { KubeletParts } from './kubelet.ts';
import type { LifecyclePart } from './lifecycle-part.ts';
import { isTerminalPhase } from './model/pod-predicates.ts';
import type { Pod, PodUid } from './model/pod.ts';
import type { PodNetwork } from './network/pod-network.ts';
import type { ApiForPods } from './objects/api-for-pods.ts';
import type { PodObjects } from './objects/pod-objects.ts';
import { podStatusPart } from './pod-status-part.ts';
import type { ContainerRuntime } from './ports/container-runtime.ts';
import type { EventRecorder } from './ports/event-recorder.ts';
import type { ImagePuller } from './ports/image-puller.ts';
import type { PodAdmitHandler } from './ports/pod-admit-handler.ts';
import type { Trace } from './ports/pod-plan.ts';
import type { StatusManager } from './ports/status-manager.ts';
import { containerSpec } from './reconcile/container-spec.ts';
import { planPod } from './reconcile/plan-pod.ts';
import { PodAddresses } from './reconcile/pod-addresses.ts';
import { PodMemory } from './reconcile/pod-memory.ts';
import { podSteps } from './reconcile/pod-steps.ts';
import { RestartBackoff } from './reconcile/restart-backoff.ts';
import type { RestartMarks } from './reconcile/restart-marks.ts';
import { Restarts } from './reconcile/restarts.ts';
import type { OutOfDate, PodVolumes } from './volumes/pod-volumes.ts';

export interface ReconcilePartDeps {
  readonly clock: Clock;
  readonly engine: EnginePart;
  readonly images: ImagePuller;
  readonly volumes: PodVolumes;
  readonly network: PodNetwork;
  readonly objects: PodObjects;
  readonly api: Pick<ApiForPods, 'tokens' | 'servicesFor'>;
  readonly lifecycle: Pick<LifecyclePart, 'probes' | 'hooks'>;
  readonly statuses: StatusManager;
  readonly events: EventRecorder;
  readonly trace: Trace;
  readonly node: {
    /** Its addresses, primary first. */
    readonly ips: readonly string[];
    /** What it has for pods. */
    readonly allocatable: () => Readonly<Record<string, string>>;
    /** Undefined: every pod may run. */
    readonly admission?: PodAdmitHandler | undefined;
  };
  /** Undefined: what was to be started again is forgotten with this process. */
  readonly restartMarks?: RestartMarks;
  readonly syncFrequencyMs: number;
  /** Chance, for spreading resyncs: from 0 up to 1. */
  readonly random?: () => number;
}

/** Everything that moves one pod, joined: the planner's facts, the executors, the status, and what is forgotten at the end. */
export function reconcilePart(deps: ReconcilePartDeps): KubeletParts['reconcile'] {
  const { clock, engine, images, volumes, network, objects, api, statuses, events, trace, node } = deps;
  const { runtime } = engine;
  const { probes, hooks } = deps.lifecycle;
  const memory = new PodMemory();
  const restarts = new Restarts(deps.restartMarks);
  const backoff = new RestartBackoff(clock);
  const addresses = new PodAddresses(runtime, node.ips);
  const runSandbox = sandboxRunner(engine, images);

  const prepare = async (pod: Pod, signal: AbortSignal): Promise<OutOfDate | undefined> => {
    objects.register(pod);
    return volumes.prepare(pod, signal);
  };
  const forgetObjects = (uid: PodUid): void => {
    objects.unregister(uid);
    api.tokens.forget(uid);
  };
  const release = async (uid: PodUid, signal: AbortSignal): Promise<void> => {
    probes.forget(uid);
    hooks.forget(uid);
    forgetObjects(uid);
    await volumes.remove(uid, signal);
  };

  return {
    runtime: {
      observePod: async (uid, signal) => {
        const pod = await runtime.observePod(uid, signal);
        addresses.seen(pod);
        backoff.seen(pod);
        return restarts.asMeant(pod);
      },
    },
    plan: planPod,
    factsFor: (desired, observed, at) => {
      const { uid } = observed;
      const status = statuses.get(uid);
      // One that waits for its name has yet to begin.
      if (at.life === 'terminating' || at.life === 'terminated') probes.ending(uid);
      const told = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
      return {
        nowMs: clock.monotonicMs(),
        ...at,
        restartHold: (pod, container, instances) => backoff.hold(pod, container, instances),
        liveness: (id) => probes.liveness(id),
        startup: (id) => probes.startup(id),
        ageMs: desired && clock.monotonicMs() - memory.began(desired.pod, observed, clock).monotonicMs,
        phase: status?.phase,
        restartCount: (name) => told.find((each) => each.name === name)?.restartCount,
        previousPod: memory.declared(uid, desired?.pod),
      };
    },
    executors: podSteps({
      runtime,
      runSandbox: async (pod, spec, signal, onCreated) => {
        const sandbox = await runSandbox(pod, spec, signal, onCreated);
        addresses.given(pod.metadata.uid, sandbox.ips);
        return sandbox;
      },
      images,
      events,
      memory,
      restarts,
      hooks,
      prepare,
      network: {
        fault: engine.networkFault,
        sandbox: (pod) => {
          addresses.forget(pod.metadata.uid);
          return network.sandbox(pod);
        },
      },
      onStart: (pod, container, observed) => backoff.started(pod, container, observed),
      containerSpec: async (pod, container, { attempt, imageRef, sandbox }, signal) => {
        const isEarly = sandbox === 'starting';
        const facts = {
          podIps: async () => {
            if (isEarly && !pod.spec.hostNetwork) throw new Error('the pod has no address before its sandbox runs');
            return addresses.of(pod, signal);
          },
          hostIp: node.ips[0],
          mounts: async (env: ReadonlyMap<string, string>) => [
            ...(await volumes.mountsFor(pod, container, env, signal)),
            ...(await network.hostsMounts(pod, container, isEarly ? 'unknown' : await addresses.of(pod, signal))),
          ],
          objects: objects.for(pod),
          services: await api.servicesFor(pod, signal),
          allocatable: node.allocatable(),
          onInvalidNames: (message: string) => {
            if (!isEarly) events.record(pod, 'Warning', 'InvalidEnvironmentVariableNames', message);
          },
        };
        return containerSpec(pod, container, attempt, imageRef, facts, signal);
      },
    }),
    onHeld: (pod, held) => {
      for (const { name, notBeforeMs } of held) {
        if (!memory.isHeldAnew(pod.metadata.uid, name, notBeforeMs)) continue;
        events.record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', name);
      }
    },
    onGivesWay: (pod, life) => {
      if (!memory.givesWayAnew(pod.metadata.uid, life)) return;
      const what = life === 'terminating' ? 'this pod is stopped, and waits until it is gone' : 'this pod waits until it is gone';
      events.record(pod, 'Warning', 'NameConflict', `A static pod of this name is declared on this node and comes first: ${what}`);
    },
    statusOf: podStatusPart({ clock, statuses, events, probes, memory, backoff, hostIps: node.ips, admission: node.admission }),
    statuses,
    trace,
    refresh: async (pod, observed, signal) => {
      const { uid } = pod.metadata;
      const runs = observed.containers.some(({ state }) => state.phase === 'running');
      if (!isTerminalPhase(statuses.get(uid)?.phase)) {
        return runs ? prepare(pod, signal) : undefined;
      }
      forgetObjects(uid);
      if (!runs) await volumes.tearDown(uid, signal);
      return undefined;
    },
    resyncMs: () => jitter(deps.syncFrequencyMs, 0.5, deps.random),
    release,
    cleanUp: async (uid, signal) => {
      await release(uid, signal);
      memory.forget(uid);
      restarts.forget(uid);
      addresses.forget(uid);
      backoff.forget(uid);
      statuses.forget(uid);
      node.admission?.forget(uid);
    },
  };
}

/** The pause image is pulled when the engine turns out to lack it, so that no sandbox pays for asking. */
function sandboxRunner({ runtime, missingSandboxImage }: EnginePart, images: ImagePuller): ContainerRuntime['runSandbox'] {
  return async (pod, spec, signal, onCreated) => {
    try {
      return await runtime.runSandbox(pod, spec, signal, onCreated);
    } catch (error) {
      const image = missingSandboxImage(error);
      if (image === undefined) throw error;
      await images.ensureImage(pod, { name: 'POD', image, imagePullPolicy: 'IfNotPresent' }, signal);
      return runtime.runSandbox(pod, spec, signal, onCreated);
    }
  };
}
