import { changedFields } from '../model/changed-fields.ts';
import { containerHash } from '../model/container-hash.ts';
import { isSidecar, restartsOnFailure, sidecarsOf } from '../model/pod-predicates.ts';
import type { Container, Pod } from '../model/pod.ts';
import { shouldRestartContainer, shouldRestartSidecar } from '../model/should-restart-container.ts';
import type { ContainerId, ObservedContainer, ObservedPod, SandboxId } from '../ports/container-runtime.ts';
import type { PlanFacts } from '../ports/pod-plan.ts';
import { initProgress } from './init-progress.ts';
import { exitCodeOf, newestOf } from './instances.ts';
import { sandboxChanged } from './sandbox-changed.ts';

export interface ContainerToKill {
  readonly id: ContainerId;
  readonly name: string;
  /** The kubelet's words, for the Killing event. */
  readonly message: string;
  /** Ours, for people who ask why. */
  readonly because: string;
  /** What the failed probe has instead of the pod's. */
  readonly terminationGracePeriodSeconds?: number;
}

/** What the pod needs now, before back-off and deadlines have their say. Lists are in spec order. */
export interface ComputedPodActions {
  /** Stop every container and sandbox first. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** Why `killPod`; undefined without it. */
  readonly because: string | undefined;
  readonly sandboxId: SandboxId | undefined;
  readonly sandboxAttempt: number;
  /** At most one plain init container; sidecars may stand before it. */
  readonly initContainersToStart: readonly Container[];
  readonly containersToStart: readonly Container[];
  /** They wait for nothing but the sandbox, and nothing waits for them. */
  readonly ephemeralContainersToStart: readonly Container[];
  readonly containersToKill: readonly ContainerToKill[];
  /** The init container that the rest of the pod waits for. */
  readonly initializing: Container | undefined;
}

/** Of the planner's facts, those about containers. */
export type ContainerFacts = Pick<PlanFacts, 'liveness' | 'startup' | 'previousPod'>;

/** computePodActions in pkg/kubelet/kuberuntime, and sidecars. The pod is meant to run: its end is another matter. */
export function computePodActions(pod: Pod, observed: ObservedPod, facts: ContainerFacts): ComputedPodActions {
  const sandbox = sandboxChanged(pod, observed);
  const nothing: ComputedPodActions = {
    killPod: false,
    createSandbox: false,
    because: undefined,
    sandboxId: sandbox.id,
    sandboxAttempt: sandbox.attempt,
    initContainersToStart: [],
    containersToStart: [],
    ephemeralContainersToStart: [],
    containersToKill: [],
    initializing: undefined,
  };
  // A finished pod's sidecars end one by one: what they look like meanwhile must not begin the pod anew.
  if (sidecarsOf(pod.spec).length > 0 && appContainersHaveFinished(pod, observed)) {
    return { ...nothing, killPod: true, because: nothingLeft(pod) };
  }
  if (sandbox.because !== undefined) return recreate(pod, observed, nothing, sandbox.because);

  const init = initProgress(pod, observed, (sidecar, { id }) => sidecar.startupProbe === undefined || facts.startup(id) === 'success');
  if (init.failed && init.next && !isSidecar(init.next) && !restartsOnFailure(pod)) {
    return { ...nothing, killPod: true, because: `init container ${init.next.name} ${failure(init.failed)}: restart policy Never` };
  }
  const ephemeralContainersToStart = (pod.spec.ephemeralContainers ?? []).filter(({ name }) => hasNotRun(newestOf(observed, name)));
  const sidecars = (pod.spec.initContainers ?? [])
    .slice(0, init.keepBelow)
    .filter(isSidecar)
    .map((container) => judge(pod, observed, container, facts));
  const initContainersToStart = sidecars.filter(({ start }) => start).map(({ container }) => container);
  const sidecarsToKill = sidecars.flatMap(({ kill }) => kill ?? []);
  if (!init.done) {
    const unknown = init.failed?.state.phase === 'unknown' ? [killUnknown(init.failed, initContainer)] : [];
    return {
      ...nothing,
      initContainersToStart: [...initContainersToStart, ...(init.next ? [init.next] : [])],
      ephemeralContainersToStart,
      containersToKill: [...sidecarsToKill, ...unknown],
      initializing: init.waitsFor,
    };
  }

  const apps = pod.spec.containers.map((container) => judge(pod, observed, container, facts));
  const containersToStart = apps.filter(({ start }) => start).map(({ container }) => container);
  const appsToKill = apps.flatMap(({ kill }) => kill ?? []);
  if (containersToStart.length === 0 && !apps.some(({ keep }) => keep)) {
    return { ...nothing, killPod: true, because: nothingLeft(pod), containersToKill: appsToKill };
  }
  return {
    ...nothing,
    initContainersToStart,
    containersToStart,
    ephemeralContainersToStart,
    containersToKill: [...sidecarsToKill, ...appsToKill],
  };
}

/** Everything is stopped and begins again, unless the pod has done its work. */
function recreate(pod: Pod, observed: ObservedPod, nothing: ComputedPodActions, because: string): ComputedPodActions {
  const end: ComputedPodActions = { ...nothing, killPod: true, because: 'the sandbox is gone and nothing is left to run' };
  if (!restartsOnFailure(pod) && nothing.sandboxAttempt !== 0 && observed.containers.length > 0) {
    return { ...end, because: 'the sandbox is gone: restart policy Never' };
  }
  const containersToStart = pod.spec.containers.filter(
    ({ name }) => pod.spec.restartPolicy !== 'OnFailure' || !hasSucceeded(newestOf(observed, name)),
  );
  if (containersToStart.length === 0 && initProgress(pod, observed, () => true).done) return end;
  const again: ComputedPodActions = { ...nothing, killPod: true, createSandbox: true, because };
  const first = pod.spec.initContainers?.[0];
  return first ? { ...again, initContainersToStart: [first], initializing: first } : { ...again, containersToStart };
}

function appContainersHaveFinished(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.every(({ name }) => {
    const newest = newestOf(observed, name);
    return newest?.state.phase === 'exited' && !shouldRestartContainer(pod, newest.state);
  });
}

function nothingLeft(pod: Pod): string {
  return `no container is left to run: restart policy ${pod.spec.restartPolicy ?? 'Always'}`;
}

/** An ephemeral container runs once. */
function hasNotRun(newest: ObservedContainer | undefined): boolean {
  return newest === undefined || newest.state.phase === 'created';
}

/** Never ran counts as 0 here, as the kubelet has it. */
function hasSucceeded(newest: ObservedContainer | undefined): boolean {
  return newest !== undefined && newest.state.phase !== 'running' && exitCodeOf(newest) === 0;
}

interface Judgement {
  readonly container: Container;
  readonly keep: boolean;
  readonly start: boolean;
  readonly kill: ContainerToKill | undefined;
}

/** What becomes of an app container or a sidecar whose turn has come. A sidecar always starts again: its messages do not say so. */
function judge(pod: Pod, observed: ObservedPod, container: Container, facts: ContainerFacts): Judgement {
  const { name } = container;
  const sidecar = isSidecar(container);
  const what = sidecar ? initContainer : 'Container';
  const newest = newestOf(observed, name);
  if (newest?.state.phase !== 'running') {
    const start = (sidecar ? shouldRestartSidecar : shouldRestartContainer)(pod, newest?.state);
    return {
      container,
      keep: false,
      start,
      kill: start && newest?.state.phase === 'unknown' ? killUnknown(newest, what) : undefined,
    };
  }
  const fault = faultOf(newest, container, facts);
  if (fault === undefined) return { container, keep: true, start: false, kill: undefined };
  const start = sidecar || fault.restart || restartsOnFailure(pod);
  const message = `${what} ${name} ${fault.what}${start && !sidecar ? ', will be restarted' : ''}`;
  return { container, keep: false, start, kill: { id: newest.id, name, message, because: fault.because, ...fault.grace } };
}

/** What the kubelet calls sidecars too, as of 1.28. */
const initContainer = 'Init container';

interface Fault {
  /** The kubelet's words. */
  readonly what: string;
  /** Ours. */
  readonly because: string;
  /** Whatever the restart policy says. */
  readonly restart: boolean;
  readonly grace?: Pick<ContainerToKill, 'terminationGracePeriodSeconds'>;
}

function faultOf({ id, specHash }: ObservedContainer, container: Container, facts: ContainerFacts): Fault | undefined {
  const { name } = container;
  const hash = containerHash(container);
  if (specHash !== hash) {
    const before = facts.previousPod?.spec;
    const old = [...(before?.initContainers ?? []), ...(before?.containers ?? [])].find(
      (c) => c.name === name && containerHash(c) === specHash,
    );
    const fields = old ? ` (${changedFields(old, container).join(', ')})` : '';
    return {
      what: 'definition changed',
      because: `container ${name}'s spec changed: hash ${specHash} → ${hash}${fields}`,
      restart: true,
    };
  }
  for (const probe of ['liveness', 'startup'] as const) {
    if (facts[probe](id) !== 'failure') continue;
    const seconds = container[`${probe}Probe`]?.terminationGracePeriodSeconds;
    return {
      what: `failed ${probe} probe`,
      because: `container ${name} failed its ${probe} probe`,
      restart: false,
      ...(seconds === undefined ? {} : { grace: { terminationGracePeriodSeconds: seconds } }),
    };
  }
  return undefined;
}

function killUnknown({ id, name }: ObservedContainer, what: string): ContainerToKill {
  return {
    id,
    name,
    message: `${what} is in "unknown" state, try killing it before restart`,
    because: `container ${name} is in an unknown state: it is stopped before it starts again`,
  };
}

function failure({ state }: ObservedContainer): string {
  return state.phase === 'exited' ? `failed with code ${state.exitCode} (${state.reason})` : 'was lost';
}
