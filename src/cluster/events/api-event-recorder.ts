import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { IMPLICIT_CONTAINER_PREFIX, type ObjectReference, podReference } from '../../model/object-reference.ts';
import { formatTime } from '../../model/time.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { EventNamer } from './event-name.ts';
import type { EventQueue } from './event-queue.ts';
import type { EventSource, KubeEvent } from './kube-event.ts';

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
    const name = involvedObject.name ?? '';
    const now = formatTime(clock.now());
    const queued = queue.push({
      apiVersion: 'v1',
      kind: 'Event',
      // Events about what has no namespace, like nodes, stand in the default one.
      metadata: { name: nameEvent(name), namespace: involvedObject.namespace || 'default', ...(annotations && { annotations }) },
      involvedObject,
      type,
      reason,
      message,
      source,
      reportingComponent: source.component,
      reportingInstance: source.host,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    });
    if (!queued) log.warn('event dropped: too many wait for the API server', { waiting: queue.size });
  }
}
