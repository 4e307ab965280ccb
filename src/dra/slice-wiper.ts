import type { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import { isForbidden } from '../model/api-error.ts';
import type { ResourceApi, SliceSelection } from './resource-api.ts';

/** The time that a driver has to come back (defaultWipingDelay in pkg/kubelet/cm/dra). */
const WIPE_AFTER_MS = 30_000;
/** More than drivers there can be: more come and go only while the API server does not answer. What they leave, the next agent removes. */
const MOST_PENDING = 256;
const retryMs = exponential(1_000, 300_000);

export interface SliceWiperDeps {
  readonly api: Pick<ResourceApi, 'deleteSlices'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Takes back what drivers have published of this node's devices once they are gone for long: no pod is to be scheduled for those
 * (pkg/kubelet/cm/dra/plugin).
 */
export class SliceWiper {
  readonly #deps: SliceWiperDeps;
  readonly #pending = new Map<string, { readonly timer: Subscription; readonly stop: AbortController }>();
  /** Drivers that listen. */
  readonly #listening = new Set<string>();
  #beginning: Subscription | undefined;
  readonly #stop = new AbortController();

  constructor(deps: SliceWiperDeps) {
    this.#deps = deps;
  }

  /** Drivers that have published slices while no agent ran, or an earlier one, have as much time to register with this one. */
  begin(): void {
    this.#beginning = this.#deps.clock.schedule(() => void this.#wipe(undefined, this.#stop.signal), WIPE_AFTER_MS);
  }

  gone(driver: string): void {
    this.#listening.delete(driver);
    if (this.#stop.signal.aborted || this.#pending.has(driver) || this.#pending.size >= MOST_PENDING) return;
    const stop = new AbortController();
    const timer = this.#deps.clock.schedule(() => {
      void this.#wipe(driver, stop.signal).then(() => {
        if (!stop.signal.aborted) this.#pending.delete(driver);
      });
    }, WIPE_AFTER_MS);
    this.#pending.set(driver, { timer, stop });
  }

  isBack(driver: string): void {
    this.#listening.add(driver);
    this.#cancel(driver);
  }

  /** Nothing is removed any more. */
  close(): void {
    this.#stop.abort();
    this.#beginning?.unsubscribe();
    for (const driver of this.#pending.keys()) this.#cancel(driver);
  }

  #cancel(driver: string): void {
    const pending = this.#pending.get(driver);
    this.#pending.delete(driver);
    pending?.timer.unsubscribe();
    pending?.stop.abort();
  }

  /** Undefined: the slices of all drivers that neither listen nor have time left. Never rejects. */
  async #wipe(driver: string | undefined, signal: AbortSignal): Promise<void> {
    const { api, nodeName, clock, random, log } = this.#deps;
    const fields = driver === undefined ? {} : { driver };
    const whose = (): SliceSelection =>
      driver === undefined ? { notOf: new Set([...this.#listening, ...this.#pending.keys()]) } : { of: driver };
    for (let failures = 0; !signal.aborted;) {
      try {
        await api.deleteSlices(nodeName, whose(), signal);
        if (driver !== undefined) log.info('ResourceSlices of a driver that is gone are removed', fields);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (++failures === 1) log.warn('ResourceSlices of drivers that are gone are not removed', { ...fields, error });
        // The cluster's administrator may have wanted it so.
        if (isForbidden(error)) return;
        await clock.sleep(jitter(retryMs(failures), 0.2, random), signal).catch(() => {});
      }
    }
  }
}
