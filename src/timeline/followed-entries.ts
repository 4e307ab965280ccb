import type { Observable } from 'rxjs';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { StreamEntry } from '../model/stream-entry.ts';

/** What a reader has not taken yet. */
export interface EntriesSoFar {
  readonly entries: readonly StreamEntry[];
  /** How many came after these while there was no room. */
  readonly lost: number;
}

/** Entries from now on, kept for one reader, and no more than `most`: a slow one loses what comes meanwhile. */
export class FollowedEntries {
  readonly #close: () => void;
  readonly #most: number;
  #waiting: StreamEntry[] = [];
  #lost = 0;
  #arrived = Promise.withResolvers<void>();

  constructor(all: Observable<StreamEntry>, isWanted: (entry: StreamEntry) => boolean, most = 1_000) {
    this.#most = most;
    const taking = all.subscribe((entry) => {
      if (isWanted(entry)) this.#take(entry);
    });
    this.#close = () => taking.unsubscribe();
  }

  /** Resolves once there is something. */
  async next(signal: AbortSignal): Promise<EntriesSoFar> {
    await unlessAborted(this.#arrived.promise, signal);
    const taken = { entries: this.#waiting, lost: this.#lost };
    this.#waiting = [];
    this.#lost = 0;
    this.#arrived = Promise.withResolvers();
    return taken;
  }

  close(): void {
    this.#close();
    this.#waiting = [];
  }

  #take(entry: StreamEntry): void {
    if (this.#waiting.length < this.#most) this.#waiting.push(entry);
    else this.#lost++;
    this.#arrived.resolve();
  }
}
