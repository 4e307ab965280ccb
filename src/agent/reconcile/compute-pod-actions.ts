import { allContainers, isSidecar, restartsOnFailure } from '../../model/pod-predicates.ts';
import type { Container, Pod } from '../../model/pod.ts';
import { shouldRestartContainer } from '../../model/should-restart-container.ts';
import type { ContainerId, ObservedContainer, ObservedPod, SandboxId } from '../../ports/container-runtime.ts';
import type { PlanFacts } from '../../ports/pod-plan.ts';
import { initActions } from './init-actions.ts';
import { exitCodeOf, newestOf } from './instances.ts';
import { isMadeFrom } from './is-made-from.ts';
import { type ContainersToUpdate, noUpdates, podLevelChanged, resizeContainer } from './resize-actions.ts';
import { type ContainerToReset, containersToReset } from './restart-all.ts';
import { sandboxChanged } from './sandbox-changed.ts';

export interface ContainerToKill {
  readonly id: ContainerId;
  readonly name: string;
  /** The kubelet's words, for the Killing event. */
  readonly message: string;
  /** Why, where it is not the container itself. */
  readonly reason?: 'StartupProbe' | 'LivenessProbe' | 'Unknown' | undefined;
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
  /** Running containers that get other resources as they are. */
  readonly containersToUpdate: ContainersToUpdate;
  /** In their order, before anything else is started. */
  readonly containersToReset: readonly ContainerToReset[];
  /** A container is restarted for other resources: those of the pod change, too. */
  readonly updatePodResources: boolean;
  /** What the pod as a whole asks for has changed. */
  readonly updatePodLevelResources: boolean;
  /** The init container that the rest of the pod waits for. */
  readonly initializing: Container | undefined;
}

/** Of the planner's facts, those about containers. */
export interface ContainerFacts extends Pick<PlanFacts, 'liveness' | 'startup' | 'previousPod' | 'restartAllContainers' | 'actuated'> {}

/** computePodActions in pkg/kubelet/kuberuntime. The pod is meant to run: its end is another matter. */
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
    containersToUpdate: noUpdates,
    containersToReset: [],
    updatePodResources: false,
    updatePodLevelResources: false,
    initializing: undefined,
  };
  if (facts.restartAllContainers) {
    // As the kubelet has it: the sandbox is replaced in the same step where it must be.
    const killPod = sandbox.because !== undefined;
    return { ...nothing, killPod, createSandbox: killPod, because: sandbox.because, containersToReset: containersToReset(pod, observed) };
  }
  if (sandbox.because !== undefined) return recreate(pod, observed, nothing, sandbox.because);

  const judge = new Judge(pod, facts);
  const init = initActions(pod, observed, (container, newest) =>
    isSidecar(container) ? judge.sidecar(container, newest) : judge.plainInit(container, newest),
  );
  const containersToKill = (): readonly ContainerToKill[] => [
    ...init.unknown.map((one) => killUnknown(one, initContainer)),
    ...judge.kills,
  ];
  const begun: ComputedPodActions = {
    ...nothing,
    ephemeralContainersToStart: (pod.spec.ephemeralContainers ?? []).filter(({ name }) => newestOf(observed, name) === undefined),
    initializing: init.waitsFor,
  };
  if (init.failed !== undefined) {
    const { name } = init.failed;
    const because = `init container ${name} ${failure(init.failed)}: restart policy ${policyOf(pod, init.waitsFor)}`;
    return { ...begun, killPod: true, because, initializing: undefined, containersToKill: containersToKill() };
  }
  const initContainersToStart = init.toStart;
  if (!init.done) {
    return {
      ...begun,
      initContainersToStart,
      containersToKill: containersToKill(),
      containersToUpdate: judge.updates,
      updatePodResources: judge.restartsForResources,
    };
  }

  const apps = pod.spec.containers.map((container) => ({ container, ...judge.app(container, newestOf(observed, container.name)) }));
  const containersToStart = apps.filter(({ start }) => start).map(({ container }) => container);
  const over = containersToStart.length === 0 && !apps.some(({ keep }) => keep);
  return {
    ...begun,
    killPod: over,
    because: over ? nothingLeft(pod) : undefined,
    initContainersToStart: over ? [] : initContainersToStart,
    containersToStart,
    containersToKill: containersToKill(),
    containersToUpdate: judge.updates,
    updatePodResources: judge.restartsForResources,
    updatePodLevelResources: facts.actuated !== undefined && podLevelChanged(pod, facts.actuated.pod),
  };
}

/** Everything is stopped and begins again, unless the pod has done its work. */
function recreate(pod: Pod, observed: ObservedPod, nothing: ComputedPodActions, because: string): ComputedPodActions {
  const end: ComputedPodActions = { ...nothing, killPod: true, because: 'the sandbox is gone and nothing is left to run' };
  if (!restartsOnFailure(pod) && nothing.sandboxAttempt !== 0 && observed.containers.length > 0) {
    return { ...end, because: 'the sandbox is gone: restart policy Never' };
  }
  const containersToStart = pod.spec.containers.filter(
    (container) => policyOf(pod, container) !== 'OnFailure' || !hasSucceeded(newestOf(observed, container.name)),
  );
  const created = pod.spec.containers.some(({ name }) => (newestOf(observed, name)?.state.phase ?? 'unknown') !== 'unknown');
  if (containersToStart.length === 0 && created) return end;
  const again: ComputedPodActions = { ...nothing, killPod: true, createSandbox: true, because };
  const first = pod.spec.initContainers?.[0];
  return first ? { ...again, initContainersToStart: [first], initializing: first } : { ...again, containersToStart };
}

function policyOf(pod: Pod, container: Container | undefined): string {
  return container?.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
}

export function nothingLeft(pod: Pod): string {
  return `no container is left to run: restart policy ${pod.spec.restartPolicy ?? 'Always'}`;
}

function hasSucceeded(newest: ObservedContainer | undefined): boolean {
  return newest?.state.phase === 'exited' && exitCodeOf(newest) === 0;
}

/** What the kubelet calls sidecars too, as of 1.28. */
const initContainer = 'Init container';

/** Decides about one container after the other, and collects what is to be killed and resized. */
class Judge {
  readonly #pod: Pod;
  readonly #facts: ContainerFacts;
  readonly kills: ContainerToKill[] = [];
  updates: ContainersToUpdate = noUpdates;
  restartsForResources = false;

  constructor(pod: Pod, facts: ContainerFacts) {
    this.#pod = pod;
    this.#facts = facts;
  }

  /** One that runs. A sidecar always starts again: its messages do not say so. */
  sidecar(container: Container, newest: ObservedContainer): { readonly restart: boolean; readonly started: boolean } {
    const { startup } = this.#facts;
    const probed = container.startupProbe === undefined ? 'success' : startup(newest.id);
    if (probed !== 'success') {
      if (probed === 'failure') this.#kill(newest, probeFault('startup', container), initContainer, '');
      return { restart: probed === 'failure', started: false };
    }
    const probedLive = container.livenessProbe !== undefined;
    const fault = specFault(newest, container, this.#facts) ?? (probedLive ? this.#liveness(newest, container) : undefined);
    if (fault) this.#kill(newest, fault, initContainer, '');
    // As the kubelet has it: no resize before the liveness probe has said anything.
    const waits = probedLive && this.#facts.liveness(newest.id) === undefined;
    return { restart: fault !== undefined || (!waits && this.#resizes(newest, container)), started: true };
  }

  /** One that runs: it goes on, with other resources if need be. */
  plainInit(container: Container, newest: ObservedContainer): { readonly restart: boolean; readonly started: boolean } {
    return { restart: this.#resizes(newest, container), started: false };
  }

  app(container: Container, newest: ObservedContainer | undefined): { readonly start: boolean; readonly keep: boolean } {
    if (newest?.state.phase !== 'running') {
      const start = shouldRestartContainer(this.#pod, container, newest?.state);
      if (start && newest?.state.phase === 'unknown') this.kills.push(killUnknown(newest, 'Container'));
      return { start, keep: false };
    }
    const changed = specFault(newest, container, this.#facts);
    const failed = changed ?? this.#liveness(newest, container) ?? this.#startup(newest, container);
    if (failed === undefined) {
      const restarts = this.#resizes(newest, container);
      return { start: restarts, keep: !restarts };
    }
    // A changed spec starts again whatever the policies say; of a failed probe the rules know nothing.
    const start = changed !== undefined || policyOf(this.#pod, container) !== 'Never';
    this.#kill(newest, failed, 'Container', start ? ', will be restarted' : '');
    return { start, keep: false };
  }

  #liveness({ id }: ObservedContainer, container: Container): Fault | undefined {
    return this.#facts.liveness(id) === 'failure' ? probeFault('liveness', container) : undefined;
  }

  #startup({ id }: ObservedContainer, container: Container): Fault | undefined {
    return this.#facts.startup(id) === 'failure' ? probeFault('startup', container) : undefined;
  }

  #kill({ id, name }: ObservedContainer, { what, reason, because, grace }: Fault, kind: string, suffix: string): void {
    this.kills.push({ id, name, message: `${kind} ${name} ${what}${suffix}`, reason, because, ...grace });
  }

  /** Whether its resources cannot change without a restart. */
  #resizes({ id, name }: ObservedContainer, container: Container): boolean {
    const { actuated } = this.#facts;
    if (actuated === undefined) return false;
    const { resize, updates } = resizeContainer(this.#pod, container, id, actuated, this.updates);
    this.updates = updates;
    if (resize !== 'restart') return false;
    this.restartsForResources = true;
    const because = `container ${name} gets other resources: its resize policy asks for a restart`;
    this.kills.push({ id, name, message: `Container ${name} resize requires restart`, because });
    return true;
  }
}

interface Fault {
  /** The kubelet's words. */
  readonly what: string;
  readonly reason?: ContainerToKill['reason'];
  /** Ours. */
  readonly because: string;
  readonly grace?: Pick<ContainerToKill, 'terminationGracePeriodSeconds'>;
}

function specFault(newest: ObservedContainer, container: Container, { previousPod }: ContainerFacts): Fault | undefined {
  if (isMadeFrom(newest, container)) return undefined;
  const { name, image } = container;
  const before = previousPod && allContainers(previousPod.spec).find((one) => one.name === name && isMadeFrom(newest, one));
  const because = `container ${name} is of another image: ${before?.image ?? newest.image} → ${image}`;
  return { what: 'definition changed', because };
}

function probeFault(probe: 'liveness' | 'startup', container: Container): Fault {
  const seconds = container[`${probe}Probe`]?.terminationGracePeriodSeconds;
  return {
    what: `failed ${probe} probe`,
    reason: probe === 'liveness' ? 'LivenessProbe' : 'StartupProbe',
    because: `container ${container.name} failed its ${probe} probe`,
    ...(seconds === undefined ? {} : { grace: { terminationGracePeriodSeconds: seconds } }),
  };
}

function killUnknown({ id, name }: ObservedContainer, what: string): ContainerToKill {
  return {
    id,
    name,
    message: `${what} is in "unknown" state, try killing it before restart`,
    reason: 'Unknown',
    because: `container ${name} is in an unknown state: it is stopped before it starts again`,
  };
}

function failure({ state }: ObservedContainer): string {
  return state.phase === 'exited' ? `failed with code ${state.exitCode} (${state.reason})` : 'was lost';
}
