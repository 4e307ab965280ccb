import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import { isOldEnough } from '../model/container-gc.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import { type Pod, podFullName, type PodFullName, type PodUid, aboutPod } from '../model/pod.ts';
import { featureGates } from '../options/feature-gates/feature-gates.ts';
import type { Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import type { Handler } from '../ports/work-queue.ts';
import type { AgentState } from './agent-state.ts';
import { allContainersRestart } from './status/all-containers-restart.ts';
import { nextRestartCount } from './status/next-restart-count.ts';
import { changesForLater } from './reconcile/changes-for-later.ts';
import { containerSpec } from './reconcile/container-spec.ts';
import { eachImageOnce } from './reconcile/image-volumes.ts';
import { planPodLife } from './reconcile/plan-pod-life.ts';
import { PodAddresses } from './reconcile/pod-addresses.ts';
import { PodAdmissions } from './reconcile/pod-admissions.ts';
import { PodMemory } from './reconcile/pod-memory.ts';
import { PodParticipants } from './reconcile/pod-participants.ts';
import { podReconciler, type PodReconcilerDeps } from './reconcile/pod-reconciler.ts';
import { podSteps } from './reconcile/pod-steps.ts';
import { RestartBackoff } from './reconcile/restart-backoff.ts';
import { restartDelays } from './reconcile/restart-delays.ts';
import { Restarts } from './reconcile/restarts.ts';
import { sandboxRunner } from './reconcile/sandbox-runner.ts';
import { showStatus } from './show-status.ts';

/** Joins everything that moves one pod: the planner's facts, the executors, the status, and what is forgotten at the end. */
export function reconcilePods(
  node: NodeParts,
  state: AgentState,
  given: Given,
  onEnded: (uid: PodUid, freeName: PodFullName | undefined) => void,
): Handler<PodUid> {
  const { options, live, clock, log, random, tell, tracing, cluster, engine, events, pods, objects } = node;
  const { runtime } = engine;
  const { lives, statuses, ends, resizes } = state;
  const { images, probes, hooks, volumeFiles } = given;
  const { ips } = node.node;
  const participants = new PodParticipants(given.participants, clock);
  const admissions = new PodAdmissions({ pods, lives, statuses, participants, resizes, wake: node.wake, log });
  const memory = new PodMemory();
  const restarts = new Restarts(node.restartMarks);
  const backoff = new RestartBackoff(clock, restartDelays(options));
  const dead = {
    get perContainer() {
      return live.now.maximumDeadContainersPerContainer;
    },
    isOldEnough: (createdAtMs: number) => isOldEnough(clock.now() - createdAtMs, live.now.minimumContainerTtlMs),
  };
  const addresses = new PodAddresses(runtime, ips);
  const runSandbox = sandboxRunner(runtime, images);

  const release = async (uid: PodUid, isDeclared: boolean, signal: AbortSignal): Promise<void> => {
    probes.forget(uid);
    hooks.forget(uid);
    await Promise.all([resizes.settled(uid, signal), ends.settled(uid, signal)]);
    await participants.release(uid, signal);
    if (isDeclared) return;
    for (const each of [memory, restarts, addresses, backoff, statuses, admissions, ends, resizes]) each.forget(uid);
  };

  // Of what was admitted before, something may be here.
  const isToBeAdmitted: Question = (desired, { uid, containers, sandboxes }) =>
    desired !== undefined &&
    containers.length === 0 &&
    sandboxes.length === 0 &&
    ends.of(uid) === undefined &&
    admissions.isToAsk(desired.pod);
  const isToBeResized: Question = (desired, { uid }, { life }) =>
    desired !== undefined &&
    life === 'syncing' &&
    ends.of(uid) === undefined &&
    !isTerminalPhase(statuses.get(uid)?.phase) &&
    resizes.isToDecide(uid);

  return podReconciler({
    clock,
    pods,
    lives,
    statuses,
    tell,
    tracing,
    onEnded,
    plan: planPodLife,
    allocated: (pod) => resizes.allocated(pod),
    resyncMs: () => jitter(live.now.syncFrequencyMs, 0.5, random),
    runtime: {
      observePod: async (uid, signal) => {
        const pod = await runtime.observePod(uid, signal);
        addresses.seen(pod);
        backoff.seen(pod);
        return memory.asSeen(await restarts.asMeant(pod));
      },
    },
    onLook: (desired, observed, { life }) => {
      memory.noteLook(desired?.pod, observed, clock);
      logChangesForLater(desired?.pod, memory.previous(observed.uid), log);
      if (life === 'terminating') probes.ending(observed.uid);
    },
    onAct: (uid) => memory.noteActed(uid),
    isOpen: (...look) => isToBeAdmitted(...look) || isToBeResized(...look),
    factsFor: (desired, observed, at) => {
      const { uid } = observed;
      const status = statuses.get(uid);
      return {
        nowMs: clock.monotonicMs(),
        ...at,
        terminatingSinceMs: at.terminatingSinceMs ?? ends.sinceMs(uid),
        restartHold: (pod, container, instances) => backoff.hold(pod, container, instances),
        dead,
        liveness: (id) => probes.liveness(id),
        startup: (id) => probes.startup(id),
        restartAllContainers: desired && allContainersRestart(desired.pod, observed, status),
        ageMs: desired && clock.monotonicMs() - memory.began(uid, clock).monotonicMs,
        phase: status?.phase,
        nextRestartCount: (name) => {
          const last = memory.lastAttempt(uid, name);
          if (last !== undefined) return last + 1;
          const shown = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
          return nextRestartCount(shown.find((each) => each.name === name));
        },
        previousPod: memory.previous(uid),
        end: ends.of(uid),
        isToBeAdmitted: isToBeAdmitted(desired, observed, at),
        isToBeResized: isToBeResized(desired, observed, at),
        actuated: resizes.actuated(uid),
        cpuset: (container) => participants.cpuset(uid, container),
        isTornDown: memory.isTornDown(uid),
        isPrepared: desired !== undefined && participants.isPrepared(desired.pod),
      };
    },
    executors: podSteps({
      runtime,
      images,
      events,
      report: node.tell,
      memory,
      participants,
      restarts,
      hooks,
      admit: (pod, signal) => admissions.admit(pod, signal),
      resize: (pod, signal) => admissions.resize(pod, signal),
      resizes,
      release,
      networkFault: () => engine.networkFault(),
      runSandbox: async (pod, spec, signal, onCreated) => {
        addresses.forget(pod.metadata.uid);
        const sandbox = await runSandbox(pod, spec, signal, onCreated);
        addresses.given(pod.metadata.uid, sandbox.ips);
        return sandbox;
      },
      onRestart: (pod, container, observed) => {
        backoff.started(pod, container, observed);
        backoff.gc(pod.metadata.uid);
      },
      containerSpec: async (pod, container, made, signal) => {
        const isEarly = made.sandbox === 'starting';
        const knownIps = async (): Promise<readonly string[] | 'unknown'> =>
          isEarly && !pod.spec.hostNetwork ? 'unknown' : addresses.of(pod, signal);
        const { imageVolumes: images = new Map<string, string>() } = made;
        const { imageVolumes } = images.size > 0 ? await engine.features(signal) : { imageVolumes: 'never' };
        const byEngine = imageVolumes === 'often' || (imageVolumes === 'once' && eachImageOnce(pod, container, images));
        return containerSpec(pod, container, { ...made, imageVolumes: byEngine ? images : undefined }, signal, {
          podIps: async () => {
            const known = await knownIps();
            if (known === 'unknown') throw new Error('the pod has no address before its sandbox runs');
            return known;
          },
          hostIp: ips[0],
          additions: (env) =>
            participants.container(pod, container, { env, images: byEngine ? undefined : images, podIps: knownIps }, signal),
          objects: objects.for(pod),
          volumeFile: (volume, path) => volumeFiles.read(pod, volume, path, signal),
          services: await objects.servicesFor(pod, signal),
          masterServiceNamespace: options.masterServiceNamespace,
          allocatable: node.node.resources.allocatable(),
          onInvalidNames: (message: string) => {
            if (!isEarly) events.record(pod, 'Warning', 'InvalidEnvironmentVariableNames', message);
          },
        });
      },
    }),
    onHeld: (pod, held) => {
      for (const { name, notBeforeMs } of held) {
        if (!memory.noteHeld(pod.metadata.uid, name, notBeforeMs)) continue;
        events.record(pod, 'Warning', 'BackOff', 'Back-off restarting failed container', name);
      }
    },
    onGivesWay: (pod, life) => {
      if (!memory.noteGivesWay(pod.metadata.uid, life)) return;
      const what = life === 'terminating' ? 'this pod is stopped, and waits until it is gone' : 'this pod waits until it is gone';
      events.record(pod, 'Warning', 'NameConflict', `A static pod of this name is declared on this node and comes first: ${what}`);
    },
    showStatus: showStatus({
      clock,
      statuses,
      events,
      probes,
      memory,
      backoff,
      admissions,
      participants,
      resizes,
      tellsResources: (pod) =>
        !cluster.exists || (isStaticPod(pod) ? cluster.apiPods.byName(podFullName(pod)) : pod)?.metadata.generation !== undefined,
      tellsHealth: featureGates(options.featureGates).isOn('ResourceHealthStatus'),
      tellsReadyToStart: featureGates(options.featureGates).isOn('PodReadyToStartContainersCondition'),
      ends,
      hostIps: ips,
      engine,
    }),
  });
}

type Question = PodReconcilerDeps['isOpen'];

/** A running container is not stopped for them, as in Kubernetes. */
function logChangesForLater(pod: Pod | undefined, before: Pod | undefined, log: Logger): void {
  if (pod === undefined || before === undefined || before === pod) return;
  for (const { container, fields } of changesForLater(before, pod))
    log.info('changed fields of a container count from its next start', { ...aboutPod(pod), container, fields });
}
