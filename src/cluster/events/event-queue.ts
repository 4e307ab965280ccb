import { abortable } from '../../base/abortable.ts';

/** Events on their way to the API server: first in, first out, at most `limit`. One reader. */
export class EventQueue<T> {
  readonly #limit: number;
  readonly #events: T[] = [];
  #dropped = 0;
  #wake: (() => void) | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many did not fit, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  get size(): number {
    return this.#events.length;
  }

  /** False when it is full: the event is dropped and counted. */
  push(event: T): boolean {
    if (this.#events.length >= this.#limit) {
      this.#dropped++;
      return false;
    }
    this.#events.push(event);
    this.#wake?.();
    return true;
  }

  /** Resolves once there is an event. Rejects with the signal's reason when aborted first. */
  async filled(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.#events.length === 0) await this.#pushed(signal);
  }

  /** The next event, once there is one. Rejects as `filled`. */
  async take(signal: AbortSignal): Promise<T> {
    for (;;) {
      await this.filled(signal);
      const event = this.#events.shift();
      if (event !== undefined) return event;
    }
  }

  #pushed(signal: AbortSignal): Promise<void> {
    return abortable(signal, (resolve) => {
      this.#wake = resolve;
      return () => (this.#wake = undefined);
    });
  }
}
