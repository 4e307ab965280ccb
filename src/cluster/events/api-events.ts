import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Service } from '../../base/service.ts';
import type { EventRecorder } from '../../ports/event-recorder.ts';
import type { KubeApi } from '../../ports/kube-api.ts';
import { ApiEventRecorder } from './api-event-recorder.ts';
import { EventCorrelator } from './event-correlator.ts';
import { eventNamer } from '../../model/event-name.ts';
import { EventQueue } from './event-queue.ts';
import { EventSink } from './event-sink.ts';
import { eventSource, type KubeEvent } from '../../model/kube-event.ts';

export interface ApiEventsDeps {
  readonly clock: Clock;
  /** One that folds repeats. */
  readonly log: Logger;
  /** KubeClients.events */
  readonly api: Pick<KubeApi, 'request'>;
  readonly nodeName: string;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export interface ApiEvents {
  /** Takes events before the sink runs, too. */
  readonly recorder: EventRecorder;
  readonly sink: Service & Pick<EventSink, 'forget'>;
  /** How many events were lost because too many waited. */
  readonly dropped: () => number;
}

/** client-go tools/record maxQueuedEvents */
const MAX_QUEUED = 1000;

/** Events on the API server: recorded at once, sent when there is time. */
export function apiEvents({ clock, log, api, nodeName, random }: ApiEventsDeps): ApiEvents {
  const queue = new EventQueue<KubeEvent>(MAX_QUEUED);
  const nameEvent = eventNamer(clock);
  const source = eventSource(nodeName);
  return {
    recorder: new ApiEventRecorder({ clock, log, source, nameEvent, queue }),
    sink: new EventSink({ clock, log, api, queue, correlator: new EventCorrelator(nameEvent), random }),
    dropped: () => queue.dropped,
  };
}
