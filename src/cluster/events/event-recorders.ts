import type { EventRecorder } from '../../ports/event-recorder.ts';

/** Records with each of them. */
export function eventRecorders(...recorders: readonly EventRecorder[]): EventRecorder {
  return {
    record: (...event) => {
      for (const recorder of recorders) recorder.record(...event);
    },
  };
}
