import { abortable } from '../../base/abortable.ts';
import type { Asker } from './asker.ts';

export interface FairQueueOptions {
  /** How much is done at a time. */
  readonly atOnce: number;
  /** How much may wait for that, of all peers together. */
  readonly waiting: number;
}

/** There is too much to do already. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

interface Waiter {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Does so much at a time and lets so much wait, the peers in turn: who wants one thing waits for one turn, however many things others want.
 * When no more may wait, the peer that wants the most goes short.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** By peer, in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #waitingCount = 0;
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** How much waits and runs. */
  get size(): number {
    return this.#waitingCount + this.#running;
  }

  /** Throws QueueFullError where this peer would be the one that goes short. */
  check(peer: string): void {
    const full = this.#running >= this.#options.atOnce && this.#waitingCount >= this.#options.waiting;
    if (full && this.#greediest(peer) === undefined) throw new QueueFullError('too much waits for the API server');
  }

  /** Settles as `work` does. Rejects with QueueFullError, or with the asker's reason when it has gone before its turn came. */
  async run<T>({ peer, signal }: Asker, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.check(peer);
    if (this.#running < this.#options.atOnce) this.#running++;
    else await this.#turn(peer, signal);
    try {
      return await work();
    } finally {
      this.#running--;
      this.#next();
    }
  }

  /** Resolves with the turn taken. */
  #turn(peer: string, signal: AbortSignal): Promise<void> {
    return abortable(signal, (resolve, reject) => {
      if (this.#waitingCount >= this.#options.waiting) this.#greediest(peer)?.refuse();
      const waiter: Waiter = {
        begin: () => {
          this.#running++;
          resolve();
        },
        refuse: () => reject(new QueueFullError('too much waits for the API server')),
      };
      const own = this.#waiting.get(peer) ?? new Set();
      this.#waiting.set(peer, own.add(waiter));
      this.#waitingCount++;
      return () => this.#remove(peer, waiter);
    });
  }

  /** The last in the line of a peer that wants more than this one does; undefined where none wants more. */
  #greediest(peer: string): Waiter | undefined {
    const own = this.#waiting.get(peer);
    let most = own;
    for (const each of this.#waiting.values()) if (each.size > (most?.size ?? 0)) most = each;
    return most === own || most === undefined ? undefined : [...most].at(-1);
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined || this.#running >= this.#options.atOnce) return;
    const [peer, own] = first;
    const [waiter] = own;
    // Behind the others.
    this.#waiting.delete(peer);
    this.#waiting.set(peer, own);
    waiter?.begin();
  }

  #remove(peer: string, waiter: Waiter): void {
    const own = this.#waiting.get(peer);
    if (own?.delete(waiter) !== true) return;
    this.#waitingCount--;
    if (own.size === 0) this.#waiting.delete(peer);
  }
}
