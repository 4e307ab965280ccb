import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { DeviceReport } from '../../../src/dra/device-health.ts';
import { watchHealth } from '../../../src/dra/watch-health.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

/** How many reports of so many devices, of a driver that reports without end, are heard within 10 s. */
async function heard(t: TestContext, devices: number): Promise<number> {
  const clock = new FakeClock();
  const one: DeviceReport = { poolName: 'p', deviceName: 'd', health: 'Healthy', message: '', holdsForMs: undefined };
  const report = Array.from({ length: devices }, () => one);
  const stop = new AbortController();
  let count = 0;
  const watching = watchHealth(
    {
      driver: 'gpu.org',
      reports: async function* () {
        for (;;) yield report;
      },
      onReport: () => count++,
      onEnd: () => {},
      clock,
      log: new RecordingLogger(),
    },
    stop.signal,
  );
  t.after(async () => {
    stop.abort();
    await watching;
  });
  await clock.advance(9_999);
  return count;
}

test('a driver that reports without end is heard once a second, and the less often the more it says', async (t) => {
  assert.equal(await heard(t, 1), 10);
  assert.equal(await heard(t, 50_000), 10);
  assert.equal(await heard(t, 250_000), 2);
});
