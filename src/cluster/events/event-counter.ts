import { LruMap } from '../../base/lru-map.ts';
import type { KubeEvent } from '../../model/kube-event.ts';
import { isAbout } from './event-keys.ts';

type Sent = Pick<KubeEvent, 'count' | 'firstTimestamp'> & { readonly name: string };

/** Knows what was sent before, so that a repeat becomes a count on the first event instead of another event. */
export class EventCounter {
  readonly #sent: LruMap<string, Sent>;

  constructor(limit: number) {
    this.#sent = new LruMap(limit);
  }

  /** The object of this uid is gone. */
  forget(uid: string): void {
    this.#sent.deleteWhere((key) => isAbout(key, uid));
  }

  /** The event itself when it is new under its key (count 1), else the first one with its count and latest time and message. */
  count(event: KubeEvent, key: string): KubeEvent {
    const before = this.#sent.get(key);
    const counted: KubeEvent =
      before === undefined
        ? event
        : {
            ...event,
            metadata: { ...event.metadata, name: before.name },
            firstTimestamp: before.firstTimestamp,
            count: before.count + 1,
          };
    this.#sent.set(key, { name: counted.metadata.name, firstTimestamp: counted.firstTimestamp, count: counted.count });
    return counted;
  }
}
