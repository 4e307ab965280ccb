import type { Observable } from 'rxjs';
import type { Pod, SourceName } from '../model/pod.ts';

/** A place that declares pods. */
export interface PodSource {
  readonly name: SourceName;
  /** Cold. Every emission is the complete set; the first one means "synced". Retries inside; never errors or completes. */
  readonly snapshots: Observable<readonly Pod[]>;
  /** Whether something that it was given makes no valid pod now; it has been logged. Absent: its pods are valid. */
  readonly isFaulty?: () => boolean;
}
