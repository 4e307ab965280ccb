import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logLinkSweeper } from '../../../../../src/engines/docker/logs/log-link-sweeper.ts';
import { nothingGiven } from '../../../../builders/node-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

test('links to lost logs are looked for at once and then each minute, until the agent stops', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let sweeps = 0;
  const running = logLinkSweeper({ clock, links: { sweep: async () => void sweeps++ } }).run(stop.signal, nothingGiven);
  await clock.advance(0);
  assert.equal(sweeps, 1);
  await clock.advance(120_000);
  assert.equal(sweeps, 3);
  stop.abort();
  await running;
  assert.deepEqual([sweeps, clock.actions.length], [3, 0]);
});
