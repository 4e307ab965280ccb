import type { Subscription } from 'rxjs';
import type { Clock } from '../clock.ts';

/** Calls `onIdle` once, when nothing was touched for `idleMs`. 0: never. A touch costs a look at the clock, no timer. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #touchedAtMs: number;
  #timer: Subscription | undefined;

  constructor(clock: Clock, idleMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
    this.#touchedAtMs = clock.monotonicMs();
    if (idleMs > 0) this.#arm(idleMs);
  }

  touch(): void {
    this.#touchedAtMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.schedule(() => {
      const quietMs = this.#clock.monotonicMs() - this.#touchedAtMs;
      if (quietMs < this.#idleMs) this.#arm(this.#idleMs - quietMs);
      else this.#onIdle();
    }, ms);
  }
}
