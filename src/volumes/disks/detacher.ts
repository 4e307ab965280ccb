import { Subject } from 'rxjs';
import type { Clock } from '../../base/clock.ts';
import { exponential } from '../../base/exponential.ts';
import type { Logger } from '../../base/logger.ts';
import { OngoingFaults } from '../../base/ongoing-faults.ts';
import { Slots } from '../../base/slots.ts';
import { workOnEach } from '../../base/work-on-each.ts';
import type { NodeDisks } from './node-disks.ts';

export interface DetacherDeps {
  readonly disks: Pick<NodeDisks, 'idle' | 'detach'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Pick<Logger, 'warn'>;
}

/** As the kubelet tries an unmount again (goroutinemap/exponentialbackoff). */
const retryMs = exponential(500, 122_000);
const MOST_AT_ONCE = 16;

/** Detaches what no pod on the node has any more, until that is done, or a pod has it again. It sleeps while there is none. */
export class Detacher {
  readonly #deps: DetacherDeps;
  readonly #news = new Subject<void>();
  readonly #slots = new Slots(MOST_AT_ONCE);
  #looks = 0;
  readonly #faults = new OngoingFaults<string>();

  constructor(deps: DetacherDeps) {
    this.#deps = deps;
  }

  /** There may be one. */
  look(): void {
    this.#looks++;
    this.#news.next();
  }

  /** Until `signal` aborts; what is under way ends with it. */
  run(signal: AbortSignal): Promise<void> {
    return workOnEach(
      () => this.#deps.disks.idle(),
      this.#news,
      (disk) => this.#end(disk, signal),
      signal,
    );
  }

  /** Tries until it is detached, or a pod has it: there is another look when that pod goes. */
  async #end(disk: string, signal: AbortSignal): Promise<void> {
    const { disks, clock, log } = this.#deps;
    for (let failures = 0; !signal.aborted && disks.idle().includes(disk);) {
      try {
        const looks = this.#looks;
        const isGone = await this.#slots.run(() => disks.detach(disk, signal), signal);
        this.#faults.over(disk);
        if (isGone || looks === this.#looks) return;
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (this.#faults.fault(disk, error)) log.warn('disk not detached, retrying', { disk, error });
        await clock.sleep(retryMs(failures), signal).catch(() => {});
      }
    }
  }
}
