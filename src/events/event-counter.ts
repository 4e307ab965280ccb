import { LruMap } from '../base/lru-map.ts';
import { isAbout, type KubeEvent } from './kube-event.ts';

type Told = Pick<KubeEvent, 'count' | 'firstTimestamp'> & { readonly name: string };

/** Knows what was told before, so that a repeat becomes a count on the first event instead of another event. */
export class EventCounter {
  readonly #told: LruMap<string, Told>;

  constructor(limit: number) {
    this.#told = new LruMap(limit);
  }

  /** The object of this uid is gone. */
  forget(uid: string): void {
    this.#told.deleteWhere((key) => isAbout(key, uid));
  }

  /** The event itself when it is new under its key (count 1), else the first one with its count and latest time and message. */
  count(event: KubeEvent, key: string): KubeEvent {
    const before = this.#told.get(key);
    const counted: KubeEvent =
      before === undefined
        ? event
        : {
            ...event,
            metadata: { ...event.metadata, name: before.name },
            firstTimestamp: before.firstTimestamp,
            count: before.count + 1,
          };
    this.#told.set(key, { name: counted.metadata.name, firstTimestamp: counted.firstTimestamp, count: counted.count });
    return counted;
  }
}
