import { VirtualTimeScheduler } from 'rxjs';
import { type Clock, sleepOn } from '../../src/base/clock.ts';

/** A clock that moves only when told, letting promises settle between timers. */
export class FakeClock extends VirtualTimeScheduler implements Clock {
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal);
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

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));
