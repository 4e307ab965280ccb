import { type Observable, Subject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import type { HeardLine } from '../../base/heard-logger.ts';
import { type Plain, plainFields } from '../../base/plain-fields.ts';
import type { PodUid } from '../../model/pod.ts';
import type { StreamEntry } from '../../model/stream-entry.ts';
import type { StreamEntries } from '../../ports/stream-entries.ts';

/** As many as a start of 30 pods makes, and then some. */
const MOST_KEPT = 1_000;
/** What has no stream of its own. */
const AGENT = 'agent';

/** Makes entries of what is heard, and keeps the last of them. */
export class EntryHub implements StreamEntries {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #heard = new Subject<StreamEntry>();
  readonly #kept: StreamEntry[] = [];
  readonly #most: number;
  /** Of the oldest in #kept, once that is full. */
  #oldest = 0;
  #seq: number;

  /** The first entry is the one after `lastSeq`. The last `most` are kept. */
  constructor(clock: Pick<Clock, 'now'>, { lastSeq = 0, most = MOST_KEPT } = {}) {
    this.#clock = clock;
    this.#seq = lastSeq;
    this.#most = most;
  }

  get all(): Observable<StreamEntry> {
    return this.#heard;
  }

  tail(): readonly StreamEntry[] {
    return [...this.#kept.slice(this.#oldest), ...this.#kept.slice(0, this.#oldest)];
  }

  /** Cheap: what the line was about is looked at when the entry's fields are read for the first time. */
  hear(line: HeardLine): void {
    const entry = entryOf(line, ++this.#seq, this.#clock.now());
    if (this.#kept.length < this.#most) this.#kept.push(entry);
    else if (this.#most > 0) {
      this.#kept[this.#oldest] = entry;
      this.#oldest = (this.#oldest + 1) % this.#most;
    }
    this.#heard.next(entry);
  }
}

function entryOf({ stream, level, message, fields }: HeardLine, seq: number, atMs: number): StreamEntry {
  const { pod, uid, ...rest } = fields;
  // An error may hold on to anything.
  let plain: Readonly<Record<string, Plain>> | undefined = 'error' in rest ? plainFields(rest) : undefined;
  return {
    seq,
    atMs,
    stream: stream === '' ? AGENT : stream,
    level,
    message,
    ...(typeof pod === 'string' && { pod }),
    ...(typeof uid === 'string' && { uid: uid as PodUid }),
    get fields() {
      return (plain ??= plainFields(rest));
    },
  };
}
