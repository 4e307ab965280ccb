import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedMeasure } from '../../../src/stats/shared-measure.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const never = new AbortController().signal;

function setUp() {
  const clock = new FakeClock();
  let asked = 0;
  const world = { fails: false };
  const measure = new SharedMeasure(clock, 1000, async () => {
    const mine = ++asked;
    await clock.sleep(100);
    if (world.fails) throw new Error('cannot');
    return mine;
  });
  return { clock, measure, world, asked: () => asked };
}

test('all who ask within a short while have one answer, then it is measured anew', async () => {
  const { clock, measure } = setUp();
  const first = [measure.ask(never), measure.ask(never)];
  await clock.advance(100);
  assert.deepEqual(await Promise.all(first), [1, 1]);
  await clock.advance(800);
  assert.equal(await measure.ask(never), 1);
  await clock.advance(200);
  const next = measure.ask(never);
  await clock.advance(100);
  assert.equal(await next, 2);
});

test('who no longer waits leaves the others their answer', async () => {
  const { clock, measure, asked } = setUp();
  const stop = new AbortController();
  const impatient = measure.ask(stop.signal);
  const patient = measure.ask(never);
  stop.abort(new Error('gone'));
  await assert.rejects(impatient, /^Error: gone$/);
  await assert.rejects(measure.ask(stop.signal), /^Error: gone$/);
  await clock.advance(100);
  assert.deepEqual([await patient, asked()], [1, 1]);
});

test('a failure is told to all who waited, and not kept', async () => {
  const { clock, measure, world } = setUp();
  world.fails = true;
  const failed = [measure.ask(never), measure.ask(never)].map((each) => assert.rejects(each, /^Error: cannot$/));
  await clock.advance(100);
  await Promise.all(failed);
  world.fails = false;
  const next = measure.ask(never);
  await clock.advance(100);
  assert.equal(await next, 2);
});
