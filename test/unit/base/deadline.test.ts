import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { beforeEach, test } from 'node:test';
import { deadline } from '../../../src/base/deadline.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

let clock: FakeClock;
let agent: AbortController;
beforeEach(() => {
  clock = new FakeClock();
  agent = new AbortController();
});

test('it aborts when time is up, and says what took too long', async () => {
  using within = deadline(clock, 2_000, 'the call', agent.signal);
  await clock.advance(1_999);
  assert.deepEqual([within.signal.aborted, within.missed], [false, false]);
  await clock.advance(1);
  assert.deepEqual([within.signal.reason, within.missed], [new Error('the call took longer than 2 s'), true]);
});

test('the reason may be made at the last moment', async () => {
  let latest = 'nothing';
  using within = deadline(clock, 1_000, () => new Error(`latest: ${latest}`), agent.signal);
  latest = '3 of 4';
  await clock.advance(1_000);
  assert.deepEqual(within.signal.reason, new Error('latest: 3 of 4'));
});

test('it aborts with its parent, or when asked to, and then its time has not been up', async () => {
  const why = new Error('the agent stops');
  using first = deadline(clock, 1_000, 'the call', agent.signal);
  using second = deadline(clock, 1_000, 'the call', agent.signal);
  second.abort('enough');
  agent.abort(why);
  assert.deepEqual([first.signal.reason, second.signal.reason], [why, 'enough']);
  assert.deepEqual([first.missed, second.missed], [false, false]);
});

test('it can be extended again and again, with one timer', async () => {
  using within = deadline(clock, 1_000, 'the call', agent.signal);
  for (let n = 0; n < 100; n++) {
    await clock.advance(900);
    within.extend(1_000);
  }
  assert.equal(within.missed, false);
  within.extend(10);
  await clock.advance(10);
  assert.equal(within.missed, true);
});

test('disposed of it holds no timer and no listener', async () => {
  const within = deadline(clock, 1_000, 'the call', agent.signal);
  within[Symbol.dispose]();
  assert.equal(getEventListeners(agent.signal, 'abort').length, 0);
  await clock.advance(2_000);
  assert.deepEqual([within.signal.aborted, within.missed], [false, false]);
});
