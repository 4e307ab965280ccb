import type { Subscription } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import { jitter } from '../base/jitter.ts';
import type { Logger } from '../base/logger.ts';
import { isForbidden } from '../model/api-error.ts';
import type { ResourceApi } from './resource-api.ts';

/** The time that a driver has to come back (defaultWipingDelay in pkg/kubelet/cm/dra). */
const WIPE_AFTER_MS = 30_000;
const retryMs = exponential(1_000, 300_000);

export interface SliceWiperDeps {
  readonly api: Pick<ResourceApi, 'deleteSlices'>;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Takes back what drivers have published of this node's devices, at the start and once they are gone for long: no pod is to be scheduled for
 * those (pkg/kubelet/cm/dra/plugin).
 */
export class SliceWiper {
  readonly #deps: SliceWiperDeps;
  readonly #pending = new Map<string, { readonly timer: Subscription; readonly stop: AbortController }>();
  readonly #stop = new AbortController();

  constructor(deps: SliceWiperDeps) {
    this.#deps = deps;
  }

  /** Whoever published something while another agent ran, or none, has still to register with this one. */
  begin(): void {
    void this.#wipe(undefined, this.#stop.signal);
  }

  gone(driver: string): void {
    if (this.#pending.has(driver)) return;
    const stop = new AbortController();
    const timer = this.#deps.clock.schedule(() => {
      void this.#wipe(driver, stop.signal).then(() => {
        if (!stop.signal.aborted) this.#pending.delete(driver);
      });
    }, WIPE_AFTER_MS);
    this.#pending.set(driver, { timer, stop });
  }

  isBack(driver: string): void {
    const pending = this.#pending.get(driver);
    this.#pending.delete(driver);
    pending?.timer.unsubscribe();
    pending?.stop.abort();
  }

  close(): void {
    this.#stop.abort();
    for (const driver of this.#pending.keys()) this.isBack(driver);
  }

  /** Undefined: of all drivers. Never rejects. */
  async #wipe(driver: string | undefined, signal: AbortSignal): Promise<void> {
    const { api, nodeName, clock, random, log } = this.#deps;
    const fields = driver === undefined ? {} : { driver };
    for (let failures = 0; !signal.aborted;) {
      try {
        await api.deleteSlices(nodeName, driver, signal);
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
