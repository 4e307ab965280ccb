import type { EventRecorder } from '../ports/event-recorder.ts';
import type { Happenings } from '../ports/happenings.ts';

/** Each event is a happening, too. */
export function toldEvents(tell: Pick<Happenings, 'eventRecorded'>): EventRecorder {
  return {
    record: (about, type, reason, message, container) => {
      const { uid, namespace, name = '' } = 'metadata' in about ? about.metadata : about;
      tell.eventRecorded({ uid, object: namespace ? `${namespace}/${name}` : name, container, type, reason, message });
    },
  };
}
