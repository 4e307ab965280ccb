import { withoutCredentials } from '../../base/without-credentials.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';

/** Records with each of them, without credentials: engines and programs put them into what they say. */
export function eventRecorders(...recorders: readonly EventRecorder[]): EventRecorder {
  return {
    record: (about, type, reason, message, ...more) => {
      const shown = withoutCredentials(message);
      for (const recorder of recorders) recorder.record(about, type, reason, shown, ...more);
    },
  };
}
