import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { formatGoDuration } from '../../model/go-duration.ts';
import type { PlegHealth } from '../../ports/pod-lifecycle-events.ts';

/** No relist for as long means unhealthy (pkg/kubelet/pleg/generic.go relistThreshold). */
const RELIST_THRESHOLD_MS = 3 * 60_000;

/** Go's way to write it, to the whole second. */
const ago = (ms: number): string => formatGoDuration(BigInt(Math.floor(ms / 1000)) * 1_000_000_000n);

/** How relisting goes: what is waited for, what went wrong, each said once, and how old the truth is. */
export class RelistHealth {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Logger;
  #beganAtMs: number | undefined;
  #succeededAtMs: number | undefined;
  #waiting: { readonly call: string; readonly sinceMs: number } | undefined;
  /** The call that is being tried and the errors said since it last worked. */
  #call = '';
  #failures = 0;
  readonly #faults = new OngoingFaults<string>();
  #lastError: string | undefined;

  constructor({ clock, log }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  asked(call: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#beganAtMs ??= nowMs;
    this.#call = call;
    this.#waiting = { call, sinceMs: nowMs };
  }

  /** Whether this answer ends an outage. */
  answered(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const recovered = this.#failures > 0;
    if (recovered) {
      const afterMs = nowMs - (this.#succeededAtMs ?? this.#beganAtMs ?? nowMs);
      this.#log.info('relist works again', { call: this.#call, failures: this.#failures, afterMs });
    }
    this.#succeededAtMs = nowMs;
    this.#waiting = undefined;
    this.#failures = 0;
    this.#faults.clear();
    this.#lastError = undefined;
    return recovered;
  }

  /** Returns `retryInMs`. */
  failed(error: unknown, retryInMs: number): number {
    this.#waiting = undefined;
    this.#failures++;
    this.#lastError = errorText(error);
    if (this.#faults.fault(this.#lastError)) this.#log.warn('relist failed', { call: this.#call, error, retryInMs });
    return retryInMs;
  }

  stopped(): void {
    this.#waiting = undefined;
  }

  health(): PlegHealth {
    const nowMs = this.#clock.monotonicMs();
    const ageMs = nowMs - (this.#succeededAtMs ?? this.#beganAtMs ?? nowMs);
    if (this.#succeededAtMs === undefined) return { healthy: false, ageMs, message: `pleg has yet to be successful${this.#cause(nowMs)}` };
    if (ageMs < RELIST_THRESHOLD_MS) return { healthy: true, ageMs, message: '' };
    const message = `pleg was last seen active ${ago(ageMs)} ago; threshold is ${ago(RELIST_THRESHOLD_MS)}${this.#cause(nowMs)}`;
    return { healthy: false, ageMs, message };
  }

  #cause(nowMs: number): string {
    if (this.#waiting) return `; ${this.#waiting.call} has not answered for ${ago(nowMs - this.#waiting.sinceMs)}`;
    return this.#lastError === undefined ? '' : `; ${this.#call} failed ${this.#failures} times: ${this.#lastError}`;
  }
}
