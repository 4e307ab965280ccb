import { withoutCredentials } from '../base/without-credentials.ts';
import { faultWords, type ManifestFault } from './manifest-fault.ts';

/**
 * What becomes of a pod when manifests take the place of those that count now. Of several that hold, the one that says most. `refused`: it
 * does not begin, and what runs stays as it is; where what runs stops and its successor may not begin, that is `stop`.
 */
export type PlannedConsequence = 'start' | 'restart' | 'in place' | 'recreate' | 'stop' | 'nothing' | 'refused';

/** One field that two versions have otherwise. Values are JSON; undefined: there is none, or it is not shown. */
export interface FieldDifference {
  /** "spec.containers[web].image": members of lists by their name where they have one, else by their number. */
  readonly path: string;
  readonly from?: string;
  readonly to?: string;
}

export interface PlannedPod {
  /** "namespace/name", as the manifest names it. */
  readonly pod: string;
  /** The manifest that declares it, or declared it; empty: a pod of the API server or of a URL, which ends because of the others. */
  readonly file: string;
  readonly consequence: PlannedConsequence;
  /** Those that start, restart, stop, or get other resources; of a pod that starts or stops as a whole, none. */
  readonly containers: readonly string[];
  /** In words. */
  readonly because: readonly string[];
  readonly changes: readonly FieldDifference[];
  /** So many more fields differ. */
  readonly moreChanges: number;
}

/** A ConfigMap or Secret of the manifests that differs. Its values are never told. */
export interface PlannedObject {
  /** "Secret default/login" */
  readonly object: string;
  readonly file: string;
  readonly consequence: 'added' | 'changed' | 'removed';
  /** Of its data: those that differ. */
  readonly keys: readonly string[];
  /** Pods that see it while they run: in a volume. */
  readonly live: readonly string[];
  /** Pods of which containers see it when they start next: in their environment, or at a subPath. */
  readonly atNextStart: readonly string[];
}

export interface PlannedChanges {
  readonly pods: readonly PlannedPod[];
  readonly objects: readonly PlannedObject[];
}

/** What is wrong with one of the manifests. Lines and columns count from 1. */
export interface PlannedFault {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `FieldValueRequired`, or `yaml`. */
  readonly type: string;
  /** Such as `spec.containers[0].name`; empty for the document itself. */
  readonly field: string;
  readonly detail: string;
  /** All of it in words: field, value and detail. */
  readonly message: string;
}

/** Of all manifests together. */
const MOST_FAULTS = 1_000;

/** What `rxlet plan --output=json` prints, and what POST /rxlet/v1/plan is answered with. */
export interface PlanAnswer extends PlannedChanges {
  readonly faults: readonly PlannedFault[];
  /** So many more are not shown. */
  readonly moreFaults: number;
}

export function planAnswer(planned: PlannedChanges, refused: DeclaredFaults): PlanAnswer {
  const faults = refused.flatMap(({ file, faults: all }) => all.map((fault) => ({ file, fault })));
  return {
    ...planned,
    faults: faults.slice(0, MOST_FAULTS).map(({ file, fault }) => {
      const { type, field, detail, line, column } = fault;
      return { file, line, column, type, field, detail: withoutCredentials(detail), message: withoutCredentials(faultWords(fault)) };
    }),
    moreFaults: Math.max(0, faults.length - MOST_FAULTS),
  };
}

type DeclaredFaults = readonly { readonly file: string; readonly faults: readonly ManifestFault[] }[];

/** Whether anything would be otherwise. */
export function hasChanges({ pods, objects }: PlannedChanges): boolean {
  return objects.length > 0 || pods.some(({ consequence, changes }) => consequence !== 'nothing' || changes.length > 0);
}
