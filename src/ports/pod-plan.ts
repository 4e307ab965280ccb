import type { ResizableResource } from '../model/effective-resources.ts';
import type { Container, Pod, PodSpec, PodUid } from '../model/pod.ts';
import type { ProbeResult } from '../model/probe-result.ts';
import type { ContainerId, ObservedPod, SandboxId } from './container-runtime.ts';
import type { PodEnd } from './pod-ends.ts';
import type { DesiredPod } from './pod-store.ts';
import type { Next } from './work-queue.ts';

/**
 * One step in the life of a pod. Steps run in order. After a failed `prepare` nothing is started, after a failed `updateContainer` nothing is
 * updated, a failed `startContainer` or `pinContainer` ends that container's part only, and any other failure ends the run.
 */
export type PodAction =
  /** Whether it may run here is decided. */
  | { readonly do: 'admit' }
  /** Whether it may have the resources that it asks for now is decided. */
  | { readonly do: 'resize' }
  /** What it needs besides its containers is made, or brought up to date. */
  | { readonly do: 'prepare' }
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
  /** It gets other resources as it runs. */
  | { readonly do: 'updateContainer'; readonly id: ContainerId; readonly name: string; readonly resource: ResizableResource }
  /** It runs on other CPUs from now on. */
  | { readonly do: 'pinContainer'; readonly id: ContainerId; readonly name: string; readonly cpuset: string }
  | {
      readonly do: 'removeContainer';
      readonly id: ContainerId;
      readonly name: string;
      /** Its end has asked for all containers of the pod to start again: a restart to be counted, as its start will not tell of it. */
      readonly restartsAll?: true;
    }
  /** It has ended for good and stays declared: what only a running pod needs is released. */
  | { readonly do: 'tearDown' }
  /** Nothing of it is in the engine: all that it had here is released. */
  | { readonly do: 'release' };

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
 * time: a date that is set neither ends a pod nor holds it back.
 */
export interface DeadContainersKept {
  /** Of one container; negative: all. */
  readonly perContainer: number;
  /** Whether a container of then may be removed already. A date. */
  readonly isOldEnough: (createdAtMs: number) => boolean;
}

export interface PlanFacts {
  readonly nowMs: number;
  readonly life: PodPhaseOfLife;
  /** A static pod has its name and comes first. */
  readonly givesWay?: boolean | undefined;
  /** When a container that keeps failing may be started again, and how long after its end that is; undefined: now. */
  readonly restartHold: (pod: Pod, container: Container, observed: ObservedPod) => RestartHold | undefined;
  /** Which dead containers stay; undefined: one instance of each. */
  readonly dead?: DeadContainersKept | undefined;
  readonly liveness: (id: ContainerId) => ProbeResult | undefined;
  /** A sidecar that has a startup probe has started once this says so. */
  readonly startup: (id: ContainerId) => ProbeResult | undefined;
  /** The end of a container has asked for all containers of the pod to start again, and they have not been removed for it yet. */
  readonly restartAllContainers?: boolean | undefined;
  /** How long ago the pod began, which activeDeadlineSeconds limits; undefined: not started. */
  readonly ageMs?: number | undefined;
  /** The last phase that was reported: a pod that has Succeeded or Failed does not begin again. */
  readonly phase?: string | undefined;
  /** How often the container will have been restarted by its next start, by the status that was shown last: counts where the engine has nothing of it. */
  readonly nextRestartCount?: (container: string) => number | undefined;
  /** When the pod began to terminate: what has passed since is taken off its grace period. */
  readonly terminatingSinceMs?: number | undefined;
  /** The node ends the pod for reasons of its own: eviction, shutdown. Its grace period goes before the pod's own, also below the minimum of 2 s. */
  readonly end?: PodEnd | undefined;
  /** Whether it may run here is still to be decided. */
  readonly isToBeAdmitted?: boolean | undefined;
  /** Whether it may have what it asks for now is still to be decided. */
  readonly isToBeResized?: boolean | undefined;
  /** What its containers run with, as far as is known; undefined: resources are not compared. */
  readonly actuated?: ActuatedResources | undefined;
  /** What it needs besides its containers is there and up to date: a pod at rest need not be prepared. */
  readonly isPrepared?: boolean | undefined;
  /** The CPUs that a container is to run on; undefined: it stays where it is. */
  readonly cpuset?: ((container: string) => string | undefined) | undefined;
  /** What only a running pod needs has been released. */
  readonly isTornDown?: boolean | undefined;
  /** The declaration before `desired`, or the last one of a pod that is gone: knows sidecars and names changed fields. */
  readonly previousPod?: Pod | undefined;
}

/** What the agent last gave the pod and its containers; undefined: there is no record, which counts as nothing. */
export interface ActuatedResources {
  readonly container: (name: string) => PodSpec['resources'];
  readonly pod: PodSpec['resources'];
}

/** Pure: no await, clock, log or I/O. `desired` is undefined when the pod is gone from every source. */
export type PlanPod = (desired: DesiredPod | undefined, observed: ObservedPod, facts: PlanFacts) => PodPlan;

export interface ActionOutcome {
  readonly action: PodAction;
  readonly tookMs: number;
  /** What came of it, where that is more than that it worked. */
  readonly note?: string;
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
  readonly failed: string | undefined;
  /** The engine could not even be asked: no news about the pod. */
  readonly unobserved: boolean;
  /** `back-off`: as soon as the queue's own back-off for what failed allows. */
  readonly next: Next | 'back-off';
}
