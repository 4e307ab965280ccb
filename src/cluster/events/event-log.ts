import type { V1ObjectReference } from '@kubernetes/client-node';
import type { Logger } from '../../base/logger.ts';
import { aboutPod, type Pod } from '../../model/pod.ts';
import type { EventReason, EventRecorder } from '../../ports/event-recorder.ts';

/** Events without an API server: they are log lines at `--v=2`. */
export class EventLog implements EventRecorder {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  record(about: Pod | V1ObjectReference, type: 'Normal' | 'Warning', reason: EventReason, message: string, container?: string): void {
    this.#log.v(2, 'event', {
      ...('metadata' in about ? aboutPod(about) : { object: about.namespace ? `${about.namespace}/${about.name}` : about.name }),
      container,
      type,
      reason,
      message,
    });
  }
}
