import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { IMPLICIT_CONTAINER_PREFIX, type ObjectReference, podReference } from '../../model/object-reference.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { EventNamer } from '../../model/event-name.ts';
import type { EventQueue } from './event-queue.ts';
import { type EventSource, kubeEvent, type KubeEvent } from '../../model/kube-event.ts';

export interface ApiEventRecorderDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** One that folds repeats: a full queue is logged for each event that it costs. */
  readonly log: Logger;
  readonly source: EventSource;
  readonly nameEvent: EventNamer;
  readonly queue: EventQueue<KubeEvent>;
}

/** Makes a v1.Event of what is recorded and leaves it in a queue for the API server: dropped, and counted there, when that is full. */
export class ApiEventRecorder implements EventRecorder {
  readonly #deps: ApiEventRecorderDeps;

  constructor(deps: ApiEventRecorderDeps) {
    this.#deps = deps;
  }

  record(...[about, type, reason, message, container, annotations]: Parameters<EventRecorder['record']>): void {
    const { clock, log, source, nameEvent, queue } = this.#deps;
    const involvedObject: ObjectReference = 'metadata' in about ? podReference(about, container) : about;
    if (involvedObject.fieldPath?.startsWith(IMPLICIT_CONTAINER_PREFIX)) return;
    const name = nameEvent(involvedObject.name ?? '');
    const queued = queue.push(kubeEvent({ name, atMs: clock.now(), annotations, involvedObject, type, reason, message, source }));
    if (!queued) log.warn('event dropped: too many wait for the API server', { waiting: queue.size });
  }
}
