import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeHistory } from '../../../src/page/node-history.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const share = (totalUs: number) => ({ avg10: 0, avg60: 0, avg300: 0, totalUs });
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function scene({ always = false, fails = false } = {}) {
  const clock = new FakeClock();
  const history = new NodeHistory({ clock, log: new RecordingLogger(), cores: 4, always });
  const stop = new AbortController();
  let measured = 0;
  /** Half a core, and a tenth of the time somebody waits for the disk. */
  const run = history.run(async () => {
    measured++;
    if (fails) throw new Error('no /proc');
    const atMs = clock.now();
    return {
      cpu: { atMs, usageCoreNanoSeconds: clock.monotonicMs() * 5e5 },
      memory: { atMs, usageBytes: 10, workingSetBytes: 6, availableBytes: 14, rssBytes: 1, pageFaults: 0, majorPageFaults: 0 },
      fs: { atMs, usedBytes: 3, capacityBytes: 9 },
      pressure: { atMs, io: { some: share(clock.monotonicMs() * 100), full: share(0) } },
    };
  }, stop.signal);
  return {
    clock,
    history,
    count: () => measured,
    fail: (now: boolean) => (fails = now),
    end: async () => {
      stop.abort();
      await clock.advance(0);
      await run;
      assert.deepEqual(clock.actions, [], 'no timer is left');
    },
  };
}

test('nothing is sampled before somebody looks, nor an hour after the last look', async () => {
  const { clock, history, count, end } = scene();
  await clock.advance(HOUR);
  assert.equal(count(), 0);
  assert.deepEqual(history.look().samples.atMs, []);
  await clock.advance(30 * SECOND);
  assert.equal(count(), 4);
  await clock.advance(2 * HOUR);
  assert.equal(count(), 360);
  history.look();
  await clock.advance(0);
  assert.equal(count(), 361);
  await end();
});

test('a sample says what was used since the one before; the first cannot', async () => {
  const { clock, history, end } = scene({ always: true });
  await clock.advance(10 * SECOND);
  const { samples, cores, memoryBytes, diskBytes, everyMs } = history.look();
  assert.deepEqual([cores, memoryBytes, diskBytes, everyMs], [4, 20, 9, 10 * SECOND]);
  assert.deepEqual(
    [samples.cpuCores, samples.memoryUsed, samples.diskUsed, samples.ioWaited, samples.cpuWaited],
    [
      [null, 0.5],
      [6, 6],
      [3, 3],
      [null, 10],
      [null, null],
    ],
  );
  await end();
});

test('an hour is kept, and no more', async () => {
  const { clock, history, count, end } = scene({ always: true });
  await clock.advance(3 * HOUR);
  const { atMs } = history.look().samples;
  assert.equal(atMs.length, 360);
  assert.equal((atMs.at(-1) ?? 0) - (atMs[0] ?? 0), HOUR - 10 * SECOND);
  assert.equal(count(), 3 * 360 + 1);
  await end();
});

test('what cannot be measured now is tried again', async () => {
  const { clock, history, fail, end } = scene({ always: true, fails: true });
  await clock.advance(30 * SECOND);
  assert.deepEqual(history.look().samples.atMs, []);
  fail(false);
  await clock.advance(10 * SECOND);
  assert.equal(history.look().samples.atMs.length, 1);
  await end();
});
