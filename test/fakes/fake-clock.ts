import { type SchedulerAction, type Subscription, VirtualTimeScheduler } from 'rxjs';
import { type Clock, sleepOn } from '../../src/base/clock.ts';
import { checkedDelay } from '../../src/base/timed-action.ts';

/** A clock that moves only when told, letting promises settle between timers. Its date can be set apart from its timers. */
export class FakeClock extends VirtualTimeScheduler implements Clock {
  #dateAheadMs = 0;

  override now = (): number => this.frame + this.#dateAheadMs;

  monotonicMs(): number {
    return Math.trunc(this.frame);
  }

  /** Sets the date forward, or back where negative, as an administrator does: no timer and no age takes notice. */
  moveDate(byMs: number): void {
    this.#dateAheadMs += byMs;
  }

  override schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delayMs = 0, state?: T): Subscription {
    return super.schedule(work, checkedDelay(delayMs), state);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
  }

  /** Goes on in steps until `work` is done, which may also wait for what is real: files, other processes. Rejects after two real minutes. */
  async until<T>(work: Promise<T>, stepMs = 10): Promise<T> {
    const state = { over: false };
    const end = (): void => {
      state.over = true;
    };
    work.then(end, end);
    const endAtMs = performance.now() + LONGEST_MS;
    while (!state.over) {
      if (performance.now() > endAtMs) throw new Error('what a test waits for has not come within two minutes');
      await this.advance(stepMs);
    }
    return work;
  }

  async advance(ms: number): Promise<void> {
    const end = this.frame + ms;
    await settle();
    for (let next = this.actions[0]; next && next.delay <= end; next = this.actions[0]) {
      this.maxFrames = next.delay;
      this.flush();
      await settle();
    }
    this.frame = end;
  }
}

const LONGEST_MS = 120_000;

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));
