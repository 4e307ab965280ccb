import type { Moment } from '../../base/moment.ts';
import { EventAggregator } from './event-aggregator.ts';
import { EventCounter } from './event-counter.ts';
import type { EventNamer } from '../../model/event-name.ts';
import { EventSpamFilter } from './event-spam-filter.ts';
import type { KubeEvent } from '../../model/kube-event.ts';

/** What is left to send of an event. */
export type CorrelatedEvent =
  /** Too many about this object. */
  | { readonly send: 'nothing' }
  | { readonly send: 'create'; readonly event: KubeEvent }
  /** A repeat: the change to the event sent before, and that event as a whole in case it is gone. */
  | { readonly send: 'patch'; readonly event: KubeEvent; readonly patch: EventPatch };

/** A strategic merge patch of what a repeat changes. */
export type EventPatch = Pick<KubeEvent, 'count' | 'lastTimestamp'> & { readonly message?: string };

/** client-go tools/record maxLruCacheEntries */
const MAX_ENTRIES = 4096;

/**
 * Keeps events from flooding the API server: similar ones are combined, repeats counted, and what one object may cause is limited
 * (client-go tools/record EventCorrelator, with its defaults). Decides alone; sending is another's. Its memory is bounded.
 */
export class EventCorrelator {
  readonly #aggregator: EventAggregator;
  readonly #counter = new EventCounter(MAX_ENTRIES);
  readonly #spam = new EventSpamFilter(MAX_ENTRIES);

  constructor(nameEvent: EventNamer) {
    this.#aggregator = new EventAggregator(MAX_ENTRIES, nameEvent);
  }

  /** The object of this uid is gone, and with it what was sent about it: a node where pods come and go remembers those that are there. */
  forget(uid: string): void {
    for (const part of [this.#aggregator, this.#counter, this.#spam]) part.forget(uid);
  }

  correlate(recorded: KubeEvent, now: Moment): CorrelatedEvent {
    const aggregated = this.#aggregator.aggregate(recorded, now);
    // Counted before it is filtered: the next repeat that passes tells of all.
    const event = this.#counter.count(aggregated.event, aggregated.key);
    if (!this.#spam.admit(event, now.monotonicMs)) return { send: 'nothing' };
    if (event.count === 1) return { send: 'create', event };
    const { count, lastTimestamp, message } = event;
    return { send: 'patch', event, patch: { count, lastTimestamp, ...(message === '' ? {} : { message }) } };
  }
}
