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

  /** The next event, once there is one. Rejects with the signal's reason when aborted first. */
  async take(signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const event = this.#events.shift();
      if (event !== undefined) return event;
      await this.#pushed(signal);
    }
  }

  #pushed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
