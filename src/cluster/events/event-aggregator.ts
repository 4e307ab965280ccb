import { LruMap } from '../../base/lru-map.ts';
import type { Moment } from '../../base/moment.ts';
import { formatTime } from '../../model/time.ts';
import type { EventNamer } from '../../model/event-name.ts';
import type { KubeEvent } from '../../model/kube-event.ts';
import { eventKey, isAbout, similarKey } from './event-keys.ts';

interface Similar {
  readonly messages: Set<string>;
  readonly lastMs: number;
}

/** client-go tools/record defaultAggregateMaxEvents, defaultAggregateIntervalInSeconds */
const MAX_SIMILAR = 10;
const QUIET_MS = 600_000;

export interface AggregatedEvent {
  readonly event: KubeEvent;
  /** Under which repeats are counted. */
  readonly key: string;
}

/** Combines events that differ in their message alone: from the tenth message on, one event stands for new ones, until 600 s pass without any. */
export class EventAggregator {
  readonly #similar: LruMap<string, Similar>;
  readonly #nameEvent: EventNamer;

  constructor(limit: number, nameEvent: EventNamer) {
    this.#similar = new LruMap(limit);
    this.#nameEvent = nameEvent;
  }

  /** The object of this uid is gone. */
  forget(uid: string): void {
    this.#similar.deleteWhere((key) => isAbout(key, uid));
  }

  aggregate(event: KubeEvent, { dateMs, monotonicMs }: Moment): AggregatedEvent {
    const key = similarKey(event);
    const before = this.#similar.get(key);
    const messages = before === undefined || monotonicMs - before.lastMs > QUIET_MS ? new Set<string>() : before.messages;
    messages.add(event.message);
    this.#similar.set(key, { messages, lastMs: monotonicMs });
    if (messages.size < MAX_SIMILAR) return { event, key: eventKey(event) };
    // Kubernetes forgets any of the ten. Here the first eight and the latest stay: recorded again, they are sent as events of their own.
    messages.delete([...messages].at(-2) ?? event.message);
    const now = formatTime(dateMs);
    return {
      event: {
        ...event,
        metadata: { name: this.#nameEvent(event.involvedObject.name ?? ''), namespace: event.metadata.namespace },
        message: `(combined from similar events): ${event.message}`,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
      key,
    };
  }
}
