import type { ExplainedOrigin } from '../model/explanation.ts';
import type { Pod, PodStatus } from '../model/pod.ts';
import type { ImagePulling, ProbeTried } from '../ports/happenings.ts';
import type { PodAction, PodPhaseOfLife, ReconcileRecord } from '../ports/pod-plan.ts';

/** A record, and when its run ended: a date. */
export interface SeenRecord {
  readonly record: ReconcileRecord;
  readonly endedAtMs: number;
}

export interface SeenEvent {
  readonly atMs: number;
  readonly times: number;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly container: string | undefined;
}

export interface SeenPull {
  /** When this pull began, or the first one of those that have failed in a row; and the last news. */
  readonly sinceMs: number;
  readonly failsSinceMs: number | undefined;
  readonly atMs: number;
  readonly pull: ImagePulling;
}

export interface SeenStep {
  readonly life: PodPhaseOfLife;
  readonly sinceMs: number;
  readonly action: PodAction;
  readonly because: readonly string[];
}

/** What is remembered of a pod. Dates in milliseconds since the epoch. */
export interface SeenPod {
  /** "namespace/name" */
  readonly pod: string;
  readonly last?: SeenRecord | undefined;
  /** The last that did more than to prepare. */
  readonly acted?: SeenRecord | undefined;
  readonly step?: SeenStep | undefined;
  readonly events: readonly SeenEvent[];
  /** By container and kind, oldest first. */
  readonly probes: ReadonlyMap<string, readonly ProbeTried[]>;
  /** By container and image. */
  readonly pulls: ReadonlyMap<string, SeenPull>;
  /** Why it cannot be taken out of the API yet. */
  readonly reclaim?: { readonly why: string; readonly atMs: number } | undefined;
  readonly status?: PodStatus | undefined;
  /** As it was declared last; undefined: it is gone, or has no status yet. */
  readonly lastDeclared?: Pod | undefined;
  /** Since when its looks fail, in a row. */
  readonly failsSinceMs?: number | undefined;
  /** When the last look that failed is made again. */
  readonly retryAtMs?: number | undefined;
  readonly phaseSinceMs?: number | undefined;
  readonly goneAtMs?: number | undefined;
}

/** All that an explanation is made of. */
export interface PodFacts {
  /** The date. */
  readonly nowMs: number;
  /** To be added to the clock's monotonic time to get the date. */
  readonly dateOffsetMs: number;
  readonly uid: string;
  readonly seen: SeenPod;
  /** Undefined: no source declares it any more. */
  readonly declared: Pod | undefined;
  /** As it is declared, or was last. */
  readonly pod: Pod | undefined;
  readonly origin: ExplainedOrigin;
  /** What is wrong with what the manifest says by now, while the pod goes on as it was. */
  readonly manifestFaults: readonly string[];
  /** Manifests that declare the same pod and do not count. */
  readonly ignored: readonly string[];
  /** Whether every source has spoken. */
  readonly synced: boolean;
  /** Why the engine cannot be asked; undefined: it answers. */
  readonly engineFault: string | undefined;
  readonly mirror: { readonly error: string; readonly sinceMs: number } | undefined;
  /** What holds its name, in one sentence, where it waits for that. */
  readonly holder: string | undefined;
  /** What containers wrote last. */
  readonly lastLines: ReadonlyMap<string, readonly string[]>;
}

/** Where the pod stands, as the run under way or the last one has it; undefined: it was not looked at yet. */
export const lifeOf = ({ seen }: Pick<PodFacts, 'seen'>): PodPhaseOfLife | undefined => seen.step?.life ?? seen.last?.record.life;

/** It is on its way out. */
export const isStopping = (facts: Pick<PodFacts, 'seen' | 'declared'>): boolean =>
  facts.declared?.metadata.deletionTimestamp !== undefined || lifeOf(facts) === 'terminating';
