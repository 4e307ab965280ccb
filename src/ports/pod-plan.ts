import type { Pod, PodUid } from '../model/pod.ts';
import type { ContainerId, ObservedPod, SandboxId } from './container-runtime.ts';
import type { DesiredPod } from './pod-store.ts';
import type { Next } from './work-queue.ts';

/** One step towards the pod's spec. Steps run in order; a failed `runSandbox` or stop ends the run, a failed `startContainer` only that container's. */
export type PodAction =
  | { readonly do: 'runSandbox'; readonly attempt: number }
  | { readonly do: 'stopSandbox'; readonly id: SandboxId }
  | { readonly do: 'removeSandbox'; readonly id: SandboxId }
  | { readonly do: 'startContainer'; readonly name: string; readonly attempt: number; readonly init: boolean }
  | { readonly do: 'stopContainer'; readonly id: ContainerId; readonly name: string; readonly graceMs: number; readonly why: string }
  | { readonly do: 'removeContainer'; readonly id: ContainerId; readonly name: string };

/** `because` says in words what led to the actions, or to none. Constant sentences plus names, so that repeats can be folded. */
export interface PodPlan {
  readonly actions: readonly PodAction[];
  readonly next: Next;
  readonly because: readonly string[];
}

/** Where a pod stands: it never goes back. `waiting`: another pod holds its name. */
export type PodPhaseOfLife = 'waiting' | 'syncing' | 'terminating' | 'terminated';

/** Everything the planner may know beyond spec and engine. */
export interface PlanFacts {
  readonly nowMs: number;
  readonly life: PodPhaseOfLife;
  /** When a container that keeps failing may be started again; undefined: now. Reading it changes nothing. */
  readonly restartNotBeforeMs: (pod: Pod, containerName: string) => number | undefined;
  readonly unhealthy: ReadonlySet<ContainerId>;
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
  readonly next: Next;
}

export interface Trace {
  record(record: ReconcileRecord): void;
  /** A step's news between records: pull progress, notes of parts. */
  note(uid: PodUid, message: string, fields?: Readonly<Record<string, unknown>>): void;
}
