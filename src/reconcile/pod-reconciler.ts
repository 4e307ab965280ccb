import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import { ContainerStartError } from '../model/container-start-error.ts';
import { type Pod, type PodFullName, podFullName, type PodStatus, type PodUid } from '../model/pod.ts';
import type { ContainerRuntime, ObservedPod } from '../ports/container-runtime.ts';
import type { ActionOutcome, HeldStart, PlanFacts, PlanPod, PodPhaseOfLife, PodPlan, Trace } from '../ports/pod-plan.ts';
import type { DesiredPod, PodStore } from '../ports/pod-store.ts';
import type { StatusManager } from '../ports/status-manager.ts';
import type { Handler, Next, WakeReason } from '../ports/work-queue.ts';
import { type Executors, executePlan } from './execute-plan.ts';
import type { PodLives } from './pod-lives.ts';
import type { StartAhead } from './start-ahead.ts';

/** What a step knows of the pod it works on. `sandbox` is the one that containers join; `runSandbox` sets it, and what was made `ahead` in it. */
export interface StepContext {
  readonly uid: PodUid;
  readonly desired: DesiredPod | undefined;
  readonly observed: ObservedPod;
  sandbox: ObservedPod['sandboxes'][number]['id'] | undefined;
  ahead?: StartAhead | undefined;
}

/** What a pod sees of the API is as it was before. */
export interface OutOfDateView {
  readonly message: string;
  readonly retryInMs: number;
}

export interface PodReconcilerDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly pods: PodStore;
  readonly lives: PodLives;
  readonly runtime: Pick<ContainerRuntime, 'observePod'>;
  readonly plan: PlanPod;
  readonly factsFor: (
    desired: DesiredPod | undefined,
    observed: ObservedPod,
    life: Pick<PlanFacts, 'life' | 'terminatingSinceMs' | 'givesWay'>,
  ) => PlanFacts;
  readonly executors: Executors<StepContext>;
  /** These containers of the pod wait for the end of their back-off. Repeated while they do. */
  readonly onHeld: (pod: Pod, held: readonly HeldStart[]) => void;
  /** A static pod has the name of this pod of the API, which is stopped for it or waits. Repeated while it does. */
  readonly onGivesWay: (pod: Pod, life: PodPhaseOfLife) => void;
  readonly statusOf: (desired: DesiredPod, observed: ObservedPod) => PodStatus;
  readonly statuses: StatusManager;
  readonly trace: Trace;
  /**
   * Brings what a running pod sees of the API up to date, and removes what one that has ended no longer needs. Resolves with what could not be
   * brought up to date: the pod goes on with it as it was. Repeated when it rejects.
   */
  readonly refresh: (pod: Pod, observed: ObservedPod, signal: AbortSignal) => Promise<OutOfDateView | undefined>;
  /** When to look again at a pod that gives no earlier cause. */
  readonly resyncMs: () => number;
  /** A pod that is being deleted has left no trace in the engine: removes what it left on the node; its status stays, to be told. Repeated when it rejects. */
  readonly release: (uid: PodUid, signal: AbortSignal) => Promise<void>;
  /** A pod that nobody declares has left no trace in the engine: forgets it and removes what it left on the node. Repeated when it rejects. */
  readonly cleanUp: (uid: PodUid, signal: AbortSignal) => Promise<void>;
  /** A pod has ended. `freeName` is the name that another pod may wait for; the pod itself may have been declared again meanwhile. */
  readonly onEnded: (uid: PodUid, freeName: PodFullName | undefined) => void;
}

/** Moves one pod towards its spec: observe, plan, execute, tell. Told which pod, never what happened; safe to run at any time, any number of times. */
export function podReconciler(deps: PodReconcilerDeps): Handler<PodUid> {
  const { clock, pods, lives, runtime, statuses, trace } = deps;

  return async function reconcile(uid: PodUid, signal: AbortSignal, wakes: readonly WakeReason[]): Promise<Next> {
    const atMs = clock.monotonicMs();
    const declared = pods.get(uid);
    // What no source declares is an orphan only once every source has spoken.
    if (!declared && !pods.synced) return 'on-change';
    const givesWay = declared !== undefined && pods.staticNamesakeOf(declared.pod) !== undefined;
    let life = lives.enter(uid, declared?.pod, atMs, givesWay);
    if (life === 'terminated') {
      // A create that was given up on may come to something after the end has been seen.
      if (hasNothingLeft(await runtime.observePod(uid, signal))) return 'on-change';
      lives.reopen(uid);
      life = lives.enter(uid, declared?.pod, atMs, givesWay);
    }
    if (givesWay) deps.onGivesWay(declared.pod, life);
    // Removed and declared again: the old one first ends and vanishes like any that is not declared.
    const desired = life === 'terminating' && declared?.pod.metadata.deletionTimestamp === undefined ? undefined : declared;

    const name = desired ? podFullName(desired.pod) : lives.nameOf(uid);
    const run = await lookAndAct(uid, desired, { life, givesWay }, signal);
    const next = nextAfter(run, life);
    trace.record({
      uid,
      pod: name === undefined ? uid : showName(name),
      atMs,
      wakes,
      life,
      plan: run.outOfDate
        ? { ...run.plan, because: [...run.plan.because, `its volumes are not up to date: ${run.outOfDate.message}`] }
        : run.plan,
      outcomes: run.outcomes,
      observeMs: run.observeMs,
      totalMs: clock.monotonicMs() - atMs,
      phase: statuses.get(uid)?.phase,
      next,
      ...(run.failed === undefined ? {} : { failed: signal.aborted ? 'interrupted' : errorText(run.failed) }),
      ...(run.observed ? {} : { unobserved: true }),
    });
    if (next === 'back-off') throw run.failed;
    return next;
  };

  function nextAfter({ plan, failed, errors, outOfDate }: Run, life: PodPhaseOfLife): Next | 'back-off' {
    const planned = outOfDate ? earlier(plan.next, { afterMs: outOfDate.retryInMs }) : plan.next;
    // A deadline or a back-off that is far away does not put off what has to be looked at again and again.
    const next = life === 'syncing' ? earlier(planned, { afterMs: deps.resyncMs() }) : planned;
    if (failed === undefined) return next;
    const retryAtMs = retryTime(errors, clock.monotonicMs());
    return retryAtMs === undefined ? 'back-off' : earlier(next, { afterMs: Math.max(0, retryAtMs - clock.monotonicMs()) });
  }

  interface Run {
    readonly observed: ObservedPod | undefined;
    readonly plan: PodPlan;
    readonly outcomes: readonly ActionOutcome[];
    readonly observeMs: number;
    readonly failed: unknown;
    readonly errors: readonly unknown[];
    readonly outOfDate?: OutOfDateView | undefined;
  }

  async function lookAndAct(
    uid: PodUid,
    desired: DesiredPod | undefined,
    { life, givesWay }: Pick<PlanFacts, 'life' | 'givesWay'>,
    signal: AbortSignal,
  ): Promise<Run> {
    const startedAtMs = clock.monotonicMs();
    let observed: ObservedPod;
    try {
      observed = await runtime.observePod(uid, signal);
    } catch (error) {
      return {
        observed: undefined,
        plan: unobserved,
        outcomes: [],
        observeMs: clock.monotonicMs() - startedAtMs,
        failed: error,
        errors: [error],
      };
    }
    const observeMs = clock.monotonicMs() - startedAtMs;
    const tell = (at: ObservedPod): void => {
      if (desired) statuses.set(desired.pod, deps.statusOf(desired, at));
    };
    tell(observed);
    const plan = deps.plan(
      desired,
      observed,
      deps.factsFor(desired, observed, { life, givesWay, terminatingSinceMs: lives.terminatingSinceMs(uid) }),
    );
    if (desired && plan.held) deps.onHeld(desired.pod, plan.held);
    const sandbox = observed.sandboxes.find(({ ready }) => ready)?.id;
    const context: StepContext = { uid, desired, observed, sandbox };
    const { outcomes, errors } = await executePlan(plan.actions, deps.executors, context, { clock, signal });
    let failed = errors.at(-1) ?? (signal.aborted ? signal.reason : undefined);
    if (errors.length > 0) tell(observed);
    let outOfDate: OutOfDateView | undefined;
    if (desired && life === 'syncing') {
      try {
        outOfDate = await deps.refresh(desired.pod, observed, signal);
      } catch (error) {
        failed ??= error;
      }
    }
    if (life === 'terminating' && failed === undefined && plan.next === 'on-change') {
      failed = await endIfGone(uid, desired, observed, plan, signal);
    }
    return { observed, plan, outcomes, observeMs, failed, errors, outOfDate };
  }

  /** The engine, not the plan, says that a pod has ended. */
  async function endIfGone(
    uid: PodUid,
    desired: DesiredPod | undefined,
    before: ObservedPod,
    plan: PodPlan,
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      const now = plan.actions.length > 0 ? await runtime.observePod(uid, signal) : before;
      if (desired) statuses.set(desired.pod, deps.statusOf(desired, now));
      if (!hasNothingLeft(now)) return new Error('something of the pod is left after its end');
      await (desired ? deps.release(uid, signal) : deps.cleanUp(uid, signal));
    } catch (error) {
      return error;
    }
    deps.onEnded(uid, lives.end(uid, desired !== undefined));
    return undefined;
  }
}

const unobserved: PodPlan = { actions: [], next: 'on-change', because: ['the engine could not be asked'] };

function hasNothingLeft({ sandboxes, containers }: ObservedPod): boolean {
  return sandboxes.length === 0 && containers.length === 0;
}

function showName(fullName: PodFullName): string {
  // A pod's name has no underscore, nor has a namespace.
  const [name, namespace] = fullName.split('_');
  return `${namespace}/${name}`;
}

/** Set when every failure knows when trying again makes sense: then the queue's own back-off has nothing to add. */
function retryTime(errors: readonly unknown[], nowMs: number): number | undefined {
  const times = errors.map((error) => {
    if (!(error instanceof ContainerStartError) || error.retryAtMs === undefined) return undefined;
    return pullFailures.has(error.reason) ? Math.min(error.retryAtMs, nowMs + PULL_FAILURE_SHOWN_MS) : error.retryAtMs;
  });
  const known = times.filter((time) => time !== undefined);
  return known.length === times.length && known.length > 0 ? Math.min(...known) : undefined;
}

/** After these the image backs off, and says so when it is asked for again: status shows the failure first and then ImagePullBackOff. */
const pullFailures: ReadonlySet<string> = new Set(['ErrImagePull', 'RegistryUnavailable']);
const PULL_FAILURE_SHOWN_MS = 2_000;

function earlier(a: Next, b: Next): Next {
  if (a === 'on-change') return b;
  if (b === 'on-change') return a;
  return a.afterMs <= b.afterMs ? a : b;
}
