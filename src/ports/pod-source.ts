import type { Observable } from 'rxjs';
import type { Pod, SourceName } from '../model/pod.ts';

/** What became of some of a source's pods; all others are as they were. */
export class SomePods {
  /** Came, or changed. */
  readonly put: readonly Pod[];
  /** Went: first, so that another may have the name. */
  readonly gone: readonly Pod[];

  constructor({ put, gone }: { readonly put: readonly Pod[]; readonly gone: readonly Pod[] }) {
    this.put = put;
    this.gone = gone;
  }
}

/** A place that declares pods. */
export interface PodSource {
  readonly name: SourceName;
  /**
   * Cold. The complete set, or what became of some pods where the source knows that: among many, a complete set for each change costs too
   * much. The first one is complete and means "synced". Retries inside; never errors or completes.
   */
  readonly snapshots: Observable<readonly Pod[] | SomePods>;
  /** Whether something that it was given makes no valid pod now; it has been logged. Absent: its pods are valid. */
  readonly isFaulty?: () => boolean;
}
