import type { Observable } from 'rxjs';
import type { StreamEntry } from '../model/stream-entry.ts';

/** What happens in the agent, in the order in which it happens: log lines up to `--v=4`, printed or not, and a record of each look at a pod. */
export interface StreamEntries {
  /** Hot. A subscriber must not throw, nor log of what it hears: that is heard again. */
  readonly all: Observable<StreamEntry>;
  /** The last of them, oldest first, those from before the first subscriber included; a bounded number. */
  tail(): readonly StreamEntry[];
}
