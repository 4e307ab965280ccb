import type { Container, Pod, PodUid } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { ContainerId, ObservedPod, SandboxId } from './container-runtime.ts';
import type { DesiredPod } from './pod-store.ts';
import type { Next } from './work-queue.ts';

/** One step towards the pod's spec. Steps run in order; a failed `runSandbox` or stop ends the run, a failed `startContainer` only that container's. */
export type PodAction =
  | { readonly do: 'runSandbox'; readonly attempt: number }
  | { readonly do: 'stopSandbox'; readonly id: SandboxId }
  | { readonly do: 'removeSandbox'; readonly id: SandboxId }
  | { readonly do: 'startContainer'; readonly name: string; readonly attempt: number; readonly init: boolean }
  | {
      readonly do: 'stopContainer';
      readonly id: ContainerId;
      readonly name: string;
      readonly graceMs: number;
      readonly why: string;
      /** It is stopped to be started again: its exit code says nothing about the pod. */
      readonly restart?: true;
    }
  | { readonly do: 'removeContainer'; readonly id: ContainerId; readonly name: string };

/** `because` says in words what led to the actions, or to none. Constant sentences plus names, so that repeats can be folded. */
export interface PodPlan {
  readonly actions: readonly PodAction[];
  readonly next: Next;
  readonly because: readonly string[];
  /** Containers that are due and wait for the end of their back-off. */
  readonly held?: readonly HeldStart[];
}

export interface HeldStart {
  readonly name: string;
  /** On the clock's monotonic time. */
  readonly notBeforeMs: number;
}

/** A start that is held back: until when, on the clock's monotonic time, and how long that is from the end of the last run. */
export interface RestartHold {
  readonly notBeforeMs: number;
  readonly delayMs: number;
}

/** Where a pod stands: it never goes back. `waiting`: another pod holds its name. */
export type PodPhaseOfLife = 'waiting' | 'syncing' | 'terminating' | 'terminated';

/**
 * Everything the planner may know beyond spec and engine. Its functions read and change nothing. All times are on the clock's monotonic
 * time: a date that somebody sets neither ends a pod nor holds it back.
 */
export interface PlanFacts {
  readonly nowMs: number;
  readonly life: PodPhaseOfLife;
  /** A static pod has its name and comes first. */
  readonly givesWay?: boolean | undefined;
  /** When a container that keeps failing may be started again, and how long after its end that is; undefined: now. */
  readonly restartHold: (pod: Pod, container: Container, observed: ObservedPod) => RestartHold | undefined;
  readonly liveness: (id: ContainerId) => ProbeResult | undefined;
  /** A sidecar that has a startup probe has started once this says so. */
  readonly startup: (id: ContainerId) => ProbeResult | undefined;
  /** How long ago the pod began, which activeDeadlineSeconds limits; undefined: not started. */
  readonly ageMs?: number | undefined;
  /** The last phase that was told: a pod that has Succeeded or Failed does not begin again. */
  readonly phase?: string | undefined;
  /** How often the container had been restarted when its status was told last: counts where the engine has nothing of it any more. */
  readonly restartCount?: (container: string) => number | undefined;
  /** When the pod began to terminate: what has passed since is taken off its grace period. */
  readonly terminatingSinceMs?: number | undefined;
  /** Goes before the pod's own grace period, also below the minimum of 2 s: eviction, shutdown. */
  readonly graceOverrideSeconds?: number | undefined;
  /** The declaration before `desired`, or the last one of a pod that is gone: knows sidecars and names changed fields. */
  readonly previousPod?: Pod | undefined;
}

/** Pure: no await, clock, log or I/O. `desired` is undefined when the pod is gone from every source. */
export type PlanPod = (desired: DesiredPod | undefined, observed: ObservedPod, facts: PlanFacts) => PodPlan;

export interface ActionOutcome {
  readonly action: PodAction;
  readonly tookMs: number;
  /** Undefined when it worked. */
  readonly error?: string;
}

/** What one reconcile saw, decided and did. */
export interface ReconcileRecord {
  readonly uid: PodUid;
  /** "namespace/name" */
  readonly pod: string;
  /** When the look began, on the clock's monotonic time. */
  readonly atMs: number;
  readonly wakes: readonly string[];
  readonly life: PodPhaseOfLife;
  readonly plan: PodPlan;
  readonly outcomes: readonly ActionOutcome[];
  readonly observeMs: number;
  readonly totalMs: number;
  /** The status's phase after the run; undefined when the pod is gone. */
  readonly phase: string | undefined;
  /** Set when the run ended early: an error's words or "interrupted". */
  readonly failed?: string;
  /** The engine could not even be asked: no news about the pod. */
  readonly unobserved?: true;
  /** `back-off`: as soon as the queue's own back-off for what failed allows. */
  readonly next: Next | 'back-off';
}

export interface Trace {
  record(record: ReconcileRecord): void;
  /** A step's news between records: pull progress, notes of parts. */
  note(uid: PodUid, message: string, fields?: Readonly<Record<string, unknown>>): void;
}
