import { allContainers, deadlineLeftMs, isTerminalPhase } from '../../model/pod-predicates.ts';
import { type Pod, podFullName } from '../../model/pod.ts';
import type { ContainerId, ObservedPod } from '../../ports/container-runtime.ts';
import type { PlanFacts, PlanPod, PodAction, PodPlan } from '../../ports/pod-plan.ts';
import type { DesiredPod } from '../../ports/pod-store.ts';
import type { Next } from '../../ports/work-queue.ts';
import type { ComputedPodActions } from './compute-pod-actions.ts';
import { describeStart, isInit, kindOf } from './describe-start.ts';
import { describeHeld, heldContainers } from './held-containers.ts';
import { isRunning, mayRun, newestOf, nextAttempt } from './instances.ts';
import { leftoversOf } from './leftovers.ts';
import { neededActions } from './needed-actions.ts';
import { whoAskForAll } from './restart-all.ts';
import { nextToStop, stopContainer } from './stop-order.ts';

/** The next steps of one pod. Applied again and again to what it brings about, it ends in a plan without actions. */
export const planPod: PlanPod = (desired, observed, facts) => {
  if (facts.life === 'waiting') {
    const name = desired ? ` ${podFullName(desired.pod)}` : '';
    const holder = facts.givesWay ? 'a static pod has' : 'another pod holds';
    return { actions: [], next: 'on-change', because: [`${holder} the name${name}: this one waits for its end`] };
  }
  if (desired === undefined) {
    const because = facts.givesWay ? 'pod gives way to a static pod of its name' : 'pod is no longer declared by any source';
    return endPod(facts.previousPod, observed, facts, because, removeAll);
  }
  const { pod } = desired;
  const over = whyOver(desired, facts);
  if (over === undefined) return syncPod(pod, observed, facts);
  if (pod.metadata.deletionTimestamp !== undefined) return deletePod(pod, observed, facts, over);
  // What tells how it ended stays for as long as it is declared.
  return endPod(pod, observed, facts, over, () => removeLeftovers(pod, observed, 'over', facts));
};

/** Why a declared pod must not run (any more); undefined: it may. */
function whyOver({ pod }: DesiredPod, facts: PlanFacts): string | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return 'pod is being deleted';
  if (facts.end) return `the node ends the pod: ${facts.end.reason}: ${facts.end.message}`;
  if (facts.life === 'terminating') return 'pod is terminating';
  if (facts.life === 'terminated') return 'pod has ended';
  const phase = [pod.status?.phase, facts.phase].find(isTerminalPhase);
  // A pod over its deadline is Failed: the cause says more than the phase.
  const leftMs = deadlineLeftMs(pod, facts.ageMs);
  if (leftMs !== undefined && leftMs <= 0) return `activeDeadlineSeconds ${pod.spec.activeDeadlineSeconds} exceeded`;
  return phase === undefined ? undefined : `pod has ${phase === 'Failed' ? 'failed' : 'succeeded'} for good`;
}

/** Stops what runs, in its order, and then cleans up. */
function endPod(
  pod: Pod | undefined,
  observed: ObservedPod,
  facts: PlanFacts,
  because: string,
  cleanUp: (observed: ObservedPod) => Part,
): PodPlan {
  const { stops, waiting } = nextToStop(pod, observed, facts);
  if (waiting !== undefined) return { actions: stops, next: { afterMs: 0 }, because: [because, waiting] };
  const cleanup = cleanUp(observed);
  return {
    actions: [...stops, ...stopSandboxes(observed), ...cleanup.actions],
    next: 'on-change',
    because: [because, ...cleanup.because],
  };
}

/** Ends the pod and then leaves nothing of it, so that the API server may forget it. How it ended is looked at, and reported, before that. */
function deletePod(pod: Pod, observed: ObservedPod, facts: PlanFacts, because: string): PodPlan {
  const live = observed.containers.some(isRunning) || observed.sandboxes.some(({ ready }) => ready);
  const plan = endPod(pod, observed, facts, because, live ? () => ({ actions: [], because: [] }) : removeAll);
  return live ? { ...plan, next: { afterMs: 0 } } : plan;
}

/** Brings a pod that is meant to run closer to its spec. */
function syncPod(pod: Pod, observed: ObservedPod, facts: PlanFacts): PodPlan {
  const computed = neededActions(pod, observed, facts);
  if (computed.containersToReset.length > 0) return resetPod(pod, observed, facts, computed);
  const actions: PodAction[] = [];
  const because: string[] = [];
  if (computed.because !== undefined) because.push(computed.because);

  if (computed.killPod) {
    because.push(...computed.containersToKill.map((kill) => kill.because));
    const { stops, waiting } = nextToStop(pod, observed, facts);
    const toRestart = markRestarts(stops, observed, computed);
    if (waiting !== undefined) return { actions: toRestart, next: { afterMs: 0 }, because: [...because, waiting] };
    actions.push(...toRestart, ...stopSandboxes(observed));
    if (!computed.createSandbox) return { actions, next: 'on-change', because };
    actions.push(...purgeInitContainers(pod, observed), { do: 'runSandbox', attempt: computed.sandboxAttempt });
  } else {
    const stops = stopSome(pod, observed, facts, computed);
    actions.push(...markRestarts(stops.actions, observed, computed));
    because.push(...stops.because);
  }

  const updates = updateContainers(computed);
  actions.push(...updates.actions);
  because.push(...updates.because);

  const pins = pinContainers(
    pod,
    observed,
    facts,
    new Set(actions.flatMap((action) => (action.do === 'stopContainer' ? [action.id] : []))),
  );
  actions.push(...pins.actions);
  because.push(...pins.because);

  const held = heldContainers(pod, observed, facts, computed);
  const { initContainersToStart, containersToStart, ephemeralContainersToStart } = computed;
  for (const container of [...initContainersToStart, ...containersToStart, ...ephemeralContainersToStart]) {
    const { name } = container;
    const waits = held.find((one) => one.container === container);
    if (waits === undefined)
      actions.push({
        do: 'startContainer',
        name,
        attempt: nextAttempt(observed, name, facts.nextRestartCount?.(name)),
        init: isInit(pod, container),
      });
    const why = waits === undefined ? describeStart(pod, container, newestOf(observed, name)) : describeHeld(waits);
    if (why !== undefined) because.push(why);
  }

  // With a new sandbox on its way, what is left over will look different the next time.
  if (!computed.createSandbox) {
    const cleanup = removeLeftovers(pod, observed, 'living', facts);
    actions.push(...cleanup.actions);
    because.push(...cleanup.because);
  }
  if (because.length === 0) because.push(describeRest(pod, computed));
  return {
    actions,
    // What came of an update is looked at next.
    next: earliest([
      ...(updates.actions.length > 0 ? [0] : []),
      ...held.map(({ notBeforeMs }) => notBeforeMs - facts.nowMs),
      deadlineLeftMs(pod, facts.ageMs),
    ]),
    because,
    ...(held.length === 0 ? {} : { held: held.map(({ container: { name }, notBeforeMs }) => ({ name, notBeforeMs })) }),
  };
}

/** All containers go, without a grace period, and the next look begins with the first of them; a pod that asks for it again and again waits. */
function resetPod(pod: Pod, observed: ObservedPod, facts: PlanFacts, { containersToReset }: ComputedPodActions): PodPlan {
  const askers = whoAskForAll(pod, observed);
  const held = heldContainers(pod, observed, facts, { initContainersToStart: [], containersToStart: askers });
  if (held.length > 0) {
    return {
      actions: [],
      next: earliest([...held.map(({ notBeforeMs }) => notBeforeMs - facts.nowMs), deadlineLeftMs(pod, facts.ageMs)]),
      because: held.map(describeHeld),
      held: held.map(({ container: { name }, notBeforeMs }) => ({ name, notBeforeMs })),
    };
  }
  const why = 'all containers of the pod start again';
  const asked = new Set(askers.map(({ name }) => newestOf(observed, name)?.id));
  return {
    actions: [
      ...containersToReset.flatMap(({ id, name, kill }): readonly PodAction[] =>
        kill ? [{ do: 'stopContainer', id, name, graceMs: 0, why: `Stopping container ${name}: ${why}` }] : [],
      ),
      ...containersToReset.map(({ id, name }): PodAction => ({
        do: 'removeContainer',
        id,
        name,
        ...(asked.has(id) ? { restartsAll: true } : {}),
      })),
    ],
    next: { afterMs: 0 },
    because: askers.length > 0 ? askers.map(({ name }) => `container ${name} ended with a code that restarts all containers`) : [why],
  };
}

/** An agent that sees a container after its stop and before its start must know that it has not ended by itself. */
function markRestarts(
  stops: readonly PodAction[],
  observed: ObservedPod,
  { initContainersToStart, containersToStart }: ComputedPodActions,
): readonly PodAction[] {
  const ids = new Set([...initContainersToStart, ...containersToStart].map(({ name }) => newestOf(observed, name)?.id));
  return stops.map((stop) => (stop.do === 'stopContainer' && ids.has(stop.id) ? { ...stop, restart: true } : stop));
}

/** Memory before CPU (doPodResizeAction in pkg/kubelet/kuberuntime). */
function updateContainers({ containersToUpdate }: ComputedPodActions): Part {
  const updates = (['memory', 'cpu'] as const).flatMap((resource) =>
    containersToUpdate[resource].map(({ id, name }) => ({ do: 'updateContainer' as const, id, name, resource })),
  );
  return { actions: updates, because: updates.map(({ name, resource }) => `container ${name} gets other ${resource} as it runs`) };
}

/** What runs on, and is to do so on other CPUs. */
function pinContainers(pod: Pod, observed: ObservedPod, { cpuset }: PlanFacts, stopped: ReadonlySet<ContainerId>): Part {
  const pins = allContainers(pod.spec).flatMap(({ name }) => {
    const newest = newestOf(observed, name);
    const wanted = newest && isRunning(newest) && !stopped.has(newest.id) ? cpuset?.(name) : undefined;
    const isThere = wanted === undefined || newest?.cpuset === undefined || newest.cpuset === wanted;
    return newest && !isThere ? [{ do: 'pinContainer' as const, id: newest.id, name, cpuset: wanted }] : [];
  });
  return { actions: pins, because: pins.map(({ name, cpuset: cpus }) => `container ${name} runs on CPUs ${cpus} from now on`) };
}

function stopSandboxes({ sandboxes }: ObservedPod): readonly PodAction[] {
  return sandboxes.filter(({ ready }) => ready).map(({ id }) => ({ do: 'stopSandbox', id }));
}

/** In a new sandbox initialization starts over, and what was done in the old one must not count. */
function purgeInitContainers(pod: Pod, { containers }: ObservedPod): readonly PodAction[] {
  const inits = new Set((pod.spec.initContainers ?? []).map(({ name }) => name));
  return containers.filter(({ name }) => inits.has(name)).map(({ id, name }) => ({ do: 'removeContainer', id, name }));
}

interface Part {
  readonly actions: readonly PodAction[];
  readonly because: readonly string[];
}

/** Single containers that must not go on, while the pod does. */
function stopSome(pod: Pod, observed: ObservedPod, facts: PlanFacts, { containersToKill }: ComputedPodActions): Part {
  const actions: PodAction[] = [];
  const because: string[] = [];
  const declared = new Set(allContainers(pod.spec).map(({ name }) => name));
  for (const container of observed.containers.filter(mayRun)) {
    const { id, name } = container;
    const kill = containersToKill.find((one) => one.id === id);
    if (kill) {
      actions.push(stopContainer(container, pod, facts, kill.message, kill.terminationGracePeriodSeconds));
      because.push(kill.because);
    } else if (newestOf(observed, name) !== container) {
      actions.push(stopContainer(container, pod, facts, `Stopping container ${name}`));
      because.push(`container ${name} has a newer instance: the older one is stopped`);
    } else if (!declared.has(name)) {
      actions.push(stopContainer(container, pod, facts, `Stopping container ${name}`));
      because.push(`container ${name} is not in the pod's spec`);
    }
  }
  return { actions, because };
}

function removeAll({ containers, sandboxes }: ObservedPod): Part {
  return {
    actions: [
      ...containers.map(({ id, name }) => ({ do: 'removeContainer' as const, id, name })),
      ...sandboxes.map(({ id }) => ({ do: 'removeSandbox' as const, id })),
    ],
    because: [],
  };
}

function removeLeftovers(pod: Pod, observed: ObservedPod, life: 'living' | 'over', { dead }: PlanFacts): Part {
  const { containers, unstarted, sandboxes } = leftoversOf(pod, observed, life, dead);
  const names = [...new Set(containers.filter((container) => !unstarted.includes(container)).map(({ name }) => name))];
  return {
    actions: [
      ...containers.map(({ id, name }) => ({ do: 'removeContainer' as const, id, name })),
      ...sandboxes.map(({ id }) => ({ do: 'removeSandbox' as const, id })),
    ],
    because: [
      ...names.map((name) => `container ${name} has more dead instances than are kept: they are removed`),
      ...unstarted.map(({ name }) => `container ${name} was created but not started: it is removed`),
      ...(sandboxes.length > 0 ? ['old sandboxes without containers are removed'] : []),
    ],
  };
}

function describeRest(pod: Pod, { initializing }: ComputedPodActions): string {
  return initializing ? `${kindOf(pod, initializing)} ${initializing.name} is under way: the rest waits for it` : 'pod is as declared';
}

function earliest(delaysMs: readonly (number | undefined)[]): Next {
  const known = delaysMs.filter((ms) => ms !== undefined);
  return known.length === 0 ? 'on-change' : { afterMs: Math.max(0, Math.min(...known)) };
}
