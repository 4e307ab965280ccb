import { merge, Subject } from 'rxjs';
import { anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import { firstOf } from '../base/first-of.ts';
import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import { Slots } from '../base/slots.ts';
import { workOnEach } from '../base/work-on-each.ts';
import type { CsiDriver } from './csi-driver.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import type { KnownVolumes } from './known-volumes.ts';
import type { NodeVolumes } from './node-volumes.ts';

export interface UnstagerDeps {
  readonly known: Pick<KnownVolumes, 'idle' | 'isIdle' | 'staged'>;
  readonly volumes: Pick<NodeVolumes, 'unstage'>;
  readonly drivers: Pick<CsiDrivers, 'find' | 'changes'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

/** As the kubelet tries an unmount again (goroutinemap/exponentialbackoff). */
const retryMs = exponential(500, 122_000);
/** A driver is asked about so many volumes at a time: one that hangs holds up no other. */
const MOST_AT_ONCE = 64;

/** Unstages what no pod on the node has any more, until that is done, or a pod has it again. It sleeps while there is none. */
export class Unstager {
  readonly #deps: UnstagerDeps;
  readonly #news = new Subject<void>();
  /** By driver. */
  readonly #slots = new Map<string, Slots>();
  readonly #faults = new OngoingFaults<string>();

  constructor(deps: UnstagerDeps) {
    this.#deps = deps;
  }

  /** There may be one. */
  look(): void {
    this.#news.next();
  }

  /** Until `signal` aborts; what is under way ends with it. */
  run(signal: AbortSignal): Promise<void> {
    const { known, drivers } = this.#deps;
    return workOnEach(
      () => known.idle(),
      merge(this.#news, drivers.changes),
      (key) => this.#end(key, signal),
      signal,
    );
  }

  /** Tries until it is unstaged, or used, or its driver is not there. */
  async #end(key: string, signal: AbortSignal): Promise<void> {
    const { known, volumes, drivers, clock, log } = this.#deps;
    for (let failures = 0; !signal.aborted && known.isIdle(key);) {
      const driver = drivers.find(known.staged(key)?.driver ?? '');
      // It is looked for again when one registers.
      if (driver === undefined) return;
      try {
        await this.#slotsOf(driver).run(() => volumes.unstage(key, driver, signal), signal);
        this.#faults.over(key);
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (this.#faults.fault(key, error)) log.warn('CSI volume not unstaged, retrying', { volume: key, error });
        using pause = anySignal(signal);
        const another = firstOf(drivers.changes, pause.signal);
        await Promise.race([clock.sleep(retryMs(failures), pause.signal), another]).catch(() => {});
        pause.abort();
        await another.catch(() => {});
      }
    }
  }

  #slotsOf({ name }: CsiDriver): Slots {
    const slots = this.#slots.get(name) ?? new Slots(MOST_AT_ONCE);
    this.#slots.set(name, slots);
    return slots;
  }
}
