import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { interval, NEVER, take, timeout, timer } from 'rxjs';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { TimedAction } from '../../../src/base/timed-action.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const LONG_DELAYS = {
  'one more than Node’s longest timer': 2 ** 31,
  '25 days': 25 * 24 * 3_600_000,
  'a year': 365 * 24 * 3_600_000,
  '292 years, Go’s longest duration': Number(2n ** 63n - 1n) / 1e6,
  'the greatest int64 in seconds': Number(2n ** 63n - 1n) * 1000,
  'the greatest number': Number.MAX_VALUE,
  'for ever': Infinity,
};

/** How each way of waiting tells that it is over; the returned function gives up. */
const WAYS: Record<string, (clock: Clock, ms: number, over: () => void) => () => void> = {
  schedule: (clock, ms, over) => {
    const action = clock.schedule(over, ms);
    return () => action.unsubscribe();
  },
  sleep: (clock, ms, over) => {
    const stop = new AbortController();
    clock.sleep(ms, stop.signal).then(over, () => {});
    return () => stop.abort();
  },
  timer: (clock, ms, over) => {
    const timed = timer(ms, clock).subscribe(over);
    return () => timed.unsubscribe();
  },
  interval: (clock, ms, over) => {
    const timed = interval(ms, clock).subscribe(over);
    return () => timed.unsubscribe();
  },
  'timer with a period': (clock, ms, over) => {
    let ticks = 0;
    const timed = timer(0, ms, clock).subscribe(() => (ticks += 1) > 1 && over());
    return () => timed.unsubscribe();
  },
  timeout: (clock, ms, over) => {
    const timed = NEVER.pipe(timeout({ first: ms, scheduler: clock })).subscribe({ error: over });
    return () => timed.unsubscribe();
  },
};

describe('the system clock', () => {
  for (const [length, ms] of Object.entries(LONG_DELAYS)) {
    it(`waits ${length}, whichever way it is asked`, async () => {
      const over: string[] = [];
      const cancels = Object.entries(WAYS).map(([way, wait]) => wait(systemClock, ms, () => over.push(way)));
      await systemClock.sleep(30);
      for (const cancel of cancels) cancel();
      assert.deepEqual(over, []);
    });
  }

  it('holds no timer for a wait that was cancelled', () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const cancels = Object.values(LONG_DELAYS).flatMap((ms) => Object.values(WAYS).map((wait) => wait(systemClock, ms, () => {})));
    assert.ok(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length > before);
    for (const cancel of cancels) cancel();
    assert.equal(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length, before);
  });

  it('never ends a wait early, by its own monotonic time', async () => {
    const early: number[] = [];
    for (const ms of [0, 0.1, 0.9, 1, 1.5, 2, 3.999, 5, 10]) {
      for (let turn = 0; turn < 10; turn++) {
        const since = performance.now();
        await systemClock.sleep(ms);
        if (performance.now() - since < ms) early.push(ms);
      }
    }
    assert.deepEqual(early, []);
  });

  it('takes a delay in the past as none, and refuses one that is not a number', async () => {
    await systemClock.sleep(-1);
    await systemClock.sleep(-Infinity);
    assert.throws(() => systemClock.schedule(() => {}, NaN), RangeError);
    await assert.rejects(systemClock.sleep(NaN), RangeError);
  });

  it('tells whole milliseconds that never go back', async () => {
    const told: number[] = [];
    for (let turn = 0; turn < 100; turn++) told.push(systemClock.monotonicMs());
    await systemClock.sleep(5);
    told.push(systemClock.monotonicMs());
    assert.deepEqual(
      told,
      [...told].sort((a, b) => a - b),
    );
    assert.ok(told.every(Number.isInteger));
    assert.ok((told.at(-1) ?? 0) - (told[0] ?? 0) >= 5);
  });
});

describe('an action of the clock', () => {
  it('waits in several timers when one is too short for the delay', async () => {
    const since = performance.now();
    await new Promise<void>((done) => new TimedAction(() => done(), 7).schedule(undefined, 40));
    assert.ok(performance.now() - since >= 40);
  });

  it('passes its state, and schedules itself again from within its work', async () => {
    const seen: number[] = [];
    await new Promise<void>((done) => {
      systemClock.schedule<number>(
        function (count) {
          seen.push(count);
          if (count < 3) this.schedule(count + 1, 1);
          else done();
        },
        1,
        0,
      );
    });
    assert.deepEqual(seen, [0, 1, 2, 3]);
  });

  it('scheduled again before it ran, runs once, with the later state', async () => {
    const seen: string[] = [];
    await new Promise<void>((done) => {
      const action = new TimedAction<string>((state = '') => {
        seen.push(state);
        done();
      });
      action.schedule('first', 1);
      action.schedule('second', 2);
    });
    await systemClock.sleep(5);
    assert.deepEqual(seen, ['second']);
  });

  it('may cancel itself within its work, and is then never scheduled again', async () => {
    let runs = 0;
    const action = systemClock.schedule(function () {
      runs++;
      this.unsubscribe();
      this.schedule(undefined, 0);
    }, 0);
    await systemClock.sleep(5);
    assert.equal(runs, 1);
    assert.ok(action.closed);
  });
});

describe('the fake clock', () => {
  for (const [length, ms] of Object.entries(LONG_DELAYS)) {
    it(`waits ${length}, whichever way it is asked`, async () => {
      const clock = new FakeClock();
      const over: string[] = [];
      for (const [way, wait] of Object.entries(WAYS)) wait(clock, ms, () => over.push(way));
      await clock.advance(ms === Infinity ? 1e18 : ms * 0.999);
      assert.deepEqual(over, []);
    });
  }

  it('has a date that can be set without moving its timers or its monotonic time', async () => {
    const clock = new FakeClock();
    const ticks: number[] = [];
    interval(1000, clock)
      .pipe(take(3))
      .subscribe(() => ticks.push(clock.monotonicMs()));
    clock.moveDate(-3_600_000);
    assert.equal(clock.now(), -3_600_000);
    await clock.advance(1500);
    clock.moveDate(2 * 3_600_000);
    await clock.advance(1500);
    assert.deepEqual(ticks, [1000, 2000, 3000]);
    assert.equal(clock.monotonicMs(), 3000);
    assert.equal(clock.now(), 3_603_000);
  });

  it('takes a delay in the past as none, and refuses one that is not a number', async () => {
    const clock = new FakeClock();
    await clock.advance(10);
    let ranAt = -1;
    clock.schedule(() => (ranAt = clock.monotonicMs()), -5);
    await clock.advance(0);
    assert.equal(ranAt, 10);
    assert.throws(() => clock.schedule(() => {}, NaN), RangeError);
  });
});
