/** What becomes of a pod when manifests take the place of those that count now. Of several that hold, the one that says most. */
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
  /** The manifest that declares it, or declared it. */
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

/** Whether anything would be otherwise. */
export function hasChanges({ pods, objects }: PlannedChanges): boolean {
  return objects.length > 0 || pods.some(({ consequence, changes }) => consequence !== 'nothing' || changes.length > 0);
}
