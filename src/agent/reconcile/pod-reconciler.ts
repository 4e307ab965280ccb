import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { ContainerStartError } from '../../model/container-start-error.ts';
import { type Pod, type PodFullName, podFullName, type PodUid } from '../../model/pod.ts';
import type { ContainerRuntime, ObservedPod } from '../../ports/container-runtime.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { ActionOutcome, HeldStart, PlanFacts, PlanPod, PodAction, PodPhaseOfLife, PodPlan } from '../../ports/pod-plan.ts';
import type { DesiredPod, PodStore } from '../../ports/pod-store.ts';
import type { PodStatuses } from '../../ports/pod-statuses.ts';
import type { Tracing } from '../../ports/tracing.ts';
import type { Handler, Next, WakeReason } from '../../ports/work-queue.ts';
import { type Execution, type Executors, executePlan } from './execute-plan.ts';
import { isGone } from './plan-pod-life.ts';
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

export interface PodReconcilerDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly pods: PodStore;
  readonly lives: PodLives;
  readonly runtime: Pick<ContainerRuntime, 'observePod'>;
  readonly plan: PlanPod;
  readonly factsFor: (desired: DesiredPod | undefined, observed: ObservedPod, at: LifeFacts) => PlanFacts;
  /** Whether it is still to be decided if the pod may run here, or may have what it asks for: before its status is shown. */
  readonly isOpen: (desired: DesiredPod | undefined, observed: ObservedPod, at: LifeFacts) => boolean;
  /** The pod with the resources that it was given in place of those that it asks for. */
  readonly allocated: (pod: Pod) => Pod;
  readonly executors: Executors<StepContext>;
  /** The pod is looked at: before anything is asked about it. */
  readonly onLook: (desired: DesiredPod | undefined, observed: ObservedPod, at: LifeFacts) => void;
  /** Something is about to be done to the pod besides preparing what it needs. */
  readonly onAct: (uid: PodUid) => void;
  /** These containers of the pod wait for the end of their back-off. Repeated while they do. */
  readonly onHeld: (pod: Pod, held: readonly HeldStart[]) => void;
  /** A static pod has the name of this pod of the API, which is stopped for it or waits. Repeated while it does. */
  readonly onGivesWay: (pod: Pod, life: PodPhaseOfLife) => void;
  /** Shows the pod's status as it follows from what was observed. */
  readonly showStatus: (desired: DesiredPod, observed: ObservedPod) => void;
  readonly statuses: Pick<PodStatuses, 'get'>;
  readonly tell: Pick<Happenings, 'reconciled' | 'stepBegun'>;
  /** Each action runs within it. */
  readonly tracing: Tracing;
  /** When to look again at a pod that gives no earlier cause. */
  readonly resyncMs: () => number;
  /** A pod has ended. `freeName` is the name that another pod may wait for; the pod itself may have been declared again meanwhile. */
  readonly onEnded: (uid: PodUid, freeName: PodFullName | undefined) => void;
}

/** Where the pod stands as it is looked at. */
export type LifeFacts = Pick<PlanFacts, 'life' | 'terminatingSinceMs' | 'givesWay'>;

/** Moves one pod towards its spec: observe, plan, execute, record. Given which pod, never what happened; safe to run at any time, any number of times. */
export function podReconciler(deps: PodReconcilerDeps): Handler<PodUid> {
  const { clock, pods, lives, runtime, statuses, tell } = deps;

  return async function reconcile(uid: PodUid, signal: AbortSignal, wakes: readonly WakeReason[]): Promise<Next> {
    const atMs = clock.monotonicMs();
    const declared = pods.get(uid);
    // What no source declares is an orphan only once every source has spoken.
    if (!declared && !pods.synced) return 'on-change';
    const givesWay = declared !== undefined && pods.staticNamesakeOf(declared.pod) !== undefined;
    let life = lives.enter(uid, declared?.pod, atMs, givesWay);
    if (life === 'terminated') {
      // A create that was given up on may come to something after the end has been seen.
      if (isGone(await runtime.observePod(uid, signal))) return 'on-change';
      lives.reopen(uid);
      life = lives.enter(uid, declared?.pod, atMs, givesWay);
    }
    if (givesWay) deps.onGivesWay(declared.pod, life);
    // Removed and declared again: the old one first ends and vanishes like any that is not declared.
    const desired = life === 'terminating' && declared?.pod.metadata.deletionTimestamp === undefined ? undefined : declared;

    const name = desired ? podFullName(desired.pod) : lives.nameOf(uid);
    const run = await lookAndAct(uid, desired, { life, givesWay, terminatingSinceMs: lives.terminatingSinceMs(uid) }, signal);
    const next = nextAfter(run, life);
    tell.reconciled({
      uid,
      pod: name === undefined ? uid : showName(name),
      atMs,
      wakes,
      life,
      plan: run.plan,
      outcomes: run.outcomes,
      observeMs: run.observeMs,
      totalMs: clock.monotonicMs() - atMs,
      phase: statuses.get(uid)?.phase,
      next,
      failed: run.failed === undefined ? undefined : signal.aborted ? 'interrupted' : errorText(run.failed),
      unobserved: !run.isObserved,
    });
    if (next === 'back-off') throw run.failed;
    return next;
  };

  function nextAfter({ plan, failed, errors, retryInMs }: Run, life: PodPhaseOfLife): Next | 'back-off' {
    const planned = retryInMs === undefined ? plan.next : earlier(plan.next, { afterMs: retryInMs });
    // A deadline or a back-off that is far away does not put off what has to be looked at again and again.
    const next = life === 'syncing' ? earlier(planned, { afterMs: deps.resyncMs() }) : planned;
    if (failed === undefined) return next;
    const retryAtMs = retryTime(errors, clock.monotonicMs());
    return retryAtMs === undefined ? 'back-off' : earlier(next, { afterMs: Math.max(0, retryAtMs - clock.monotonicMs()) });
  }

  async function lookAndAct(uid: PodUid, declared: DesiredPod | undefined, at: LifeFacts, signal: AbortSignal): Promise<Run> {
    const startedAtMs = clock.monotonicMs();
    const observe = (): Promise<ObservedPod> => runtime.observePod(uid, signal);
    let observed: ObservedPod;
    try {
      observed = await observe();
    } catch (error) {
      return new Run(clock.monotonicMs() - startedAtMs, { plan: unobserved, error });
    }
    const run = new Run(clock.monotonicMs() - startedAtMs);
    const asAllocated = (): DesiredPod | undefined => declared && { ...declared, pod: deps.allocated(declared.pod) };
    let desired = asAllocated();
    deps.onLook(desired, observed, at);
    const show = (now: ObservedPod): void => {
      if (desired) deps.showStatus(desired, now);
    };
    const plan = (now: ObservedPod): PodPlan => deps.plan(desired, now, deps.factsFor(desired, now, at));
    const act = async (step: PodPlan, now: ObservedPod): Promise<void> => {
      const context: StepContext = { uid, desired, observed: now, sandbox: now.sandboxes.find(({ ready }) => ready)?.id };
      const onBegun = (action: PodAction): void => {
        if (action.do !== 'prepare') deps.onAct(uid);
        tell.stepBegun({ uid, life: at.life, action, because: step.because });
      };
      // Mostly nothing is to be done.
      if (step.actions.length === 0) run.add(step, nothingDone);
      else run.add(step, await executePlan(step.actions, deps.executors, context, { clock, signal, onBegun, tracing: deps.tracing }));
      if (signal.aborted) run.fail(signal.reason);
    };

    if (deps.isOpen(desired, observed, at)) {
      await act(plan(observed), observed);
      if (run.failed !== undefined) return run;
      desired = asAllocated();
    }
    // What is shown may be the pod's end, which the plan has to know.
    show(observed);
    let step = plan(observed);
    if (desired && step.held) deps.onHeld(desired.pod, step.held);
    await act(step, observed);
    if (run.errors.length > 0) show(observed);
    if (at.life !== 'terminating' || run.failed !== undefined || step.next !== 'on-change') return run;

    // The engine, not the plan, says that a pod has ended.
    if (step.actions[0]?.do !== 'release') {
      try {
        observed = step.actions.length > 0 ? await observe() : observed;
        show(observed);
        step = plan(observed);
        if (step.actions[0]?.do !== 'release') throw new Error('something of the pod is left after its end');
      } catch (error) {
        run.fail(error);
        return run;
      }
      await act(step, observed);
      if (run.failed !== undefined) return run;
    }
    deps.onEnded(uid, lives.end(uid, desired !== undefined));
    return run;
  }
}

const nothingDone: Execution = { outcomes: [], errors: [], retryInMs: undefined };

/** What one look at a pod has come to so far. */
class Run {
  readonly observeMs: number;
  readonly isObserved: boolean;
  readonly errors: unknown[] = [];
  readonly outcomes: ActionOutcome[] = [];
  plan: PodPlan = { actions: [], next: 'on-change', because: [] };
  retryInMs: number | undefined;
  /** What ended it early. */
  failed: unknown;

  constructor(observeMs: number, unseen?: { readonly plan: PodPlan; readonly error: unknown }) {
    this.observeMs = observeMs;
    this.isObserved = unseen === undefined;
    if (!unseen) return;
    this.plan = unseen.plan;
    this.errors.push(unseen.error);
    this.failed = unseen.error;
  }

  /** The next step of the same look has been carried out. */
  add(plan: PodPlan, { outcomes, errors, retryInMs }: Execution): void {
    const noted = outcomes.flatMap(({ action, note, error }) => {
      const text = error === undefined ? note : `failed: ${error}`;
      return text === undefined ? [] : [`${nameOf(action)} ${text}`];
    });
    this.plan = {
      ...plan,
      actions: [...this.plan.actions, ...plan.actions],
      because: [...this.plan.because, ...plan.because, ...noted],
    };
    this.outcomes.push(...outcomes);
    this.errors.push(...errors);
    if (errors.length > 0) this.failed = errors.at(-1);
    if (retryInMs !== undefined) this.retryInMs = Math.min(retryInMs, this.retryInMs ?? retryInMs);
  }

  fail(error: unknown): void {
    this.failed ??= error;
  }
}

const nameOf = (action: PodAction): string => ('name' in action ? `${action.do} ${action.name}` : action.do);

const unobserved: PodPlan = { actions: [], next: 'on-change', because: ['the engine could not be asked'] };

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
const pullFailures: ReadonlySet<string> = new Set(['ErrImagePull', 'RegistryUnavailable', 'SignatureValidationFailed']);
const PULL_FAILURE_SHOWN_MS = 2_000;

function earlier(a: Next, b: Next): Next {
  if (a === 'on-change') return b;
  if (b === 'on-change') return a;
  return a.afterMs <= b.afterMs ? a : b;
}
