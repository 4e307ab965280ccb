import { LruMap } from '../../base/lru-map.ts';
import type { KubeEvent } from '../../model/kube-event.ts';
import { isAbout, spamKey } from './event-keys.ts';

interface Bucket {
  readonly tokens: number;
  readonly filledAtMs: number;
}

/** client-go tools/record defaultSpamBurst */
const BURST = 25;
/** Tokens a second, one each 300 s: defaultSpamQPS in the precision in which client-go keeps it, so that a whole 300 s give a whole token. */
const QPS = Math.fround(1 / 300);
/** What a nanosecond brings: a shorter wait is none (golang.org/x/time/rate). */
const EPSILON = QPS / 1e9;

/** Lets 25 events of one source about one object pass, then one each 300 s: what fails for ever is not sent for ever. */
export class EventSpamFilter {
  readonly #buckets: LruMap<string, Bucket>;

  constructor(limit: number) {
    this.#buckets = new LruMap(limit);
  }

  /** The object of this uid is gone. */
  forget(uid: string): void {
    this.#buckets.deleteWhere((key) => isAbout(key, uid));
  }

  /** Whether the event may pass; a refused one costs nothing. `nowMs` is on the clock's monotonic time. */
  admit(event: KubeEvent, nowMs: number): boolean {
    const key = spamKey(event);
    const bucket = this.#buckets.get(key) ?? { tokens: BURST, filledAtMs: nowMs };
    const tokens = Math.min(BURST, bucket.tokens + ((nowMs - bucket.filledAtMs) / 1000) * QPS) - 1;
    const admitted = tokens > -EPSILON;
    this.#buckets.set(key, admitted ? { tokens, filledAtMs: nowMs } : bucket);
    return admitted;
  }
}
