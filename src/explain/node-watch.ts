import type { Clock } from '../base/clock.ts';
import type { Happenings } from '../ports/happenings.ts';

/** When the API server last answered, and how the lease stands. */
export class NodeWatch {
  readonly #clock: Pick<Clock, 'now'>;
  answeredAtMs: number | undefined;
  failedAtMs: number | undefined;
  lease: { readonly atMs: number; readonly error: string | undefined } | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  readonly listener: Partial<Happenings> = {
    apiRequested: ({ status }) => {
      if (status === undefined) this.failedAtMs = this.#clock.now();
      else this.answeredAtMs = this.#clock.now();
    },
    leaseTried: ({ error }) => {
      this.lease = { atMs: this.#clock.now(), error };
    },
  };
}
