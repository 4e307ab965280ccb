import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OngoingFaults } from '../../../src/base/ongoing-faults.ts';

test('a fault that lasts is news once, and its end is one as well', () => {
  const faults = new OngoingFaults<string>();
  assert.deepEqual(
    [faults.over('a'), faults.fault('a', new Error('no route')), faults.fault('a', new Error('no route'))],
    [false, true, false],
  );
  assert.deepEqual(
    [faults.fault('b', 'no route'), faults.fault('a', new Error('refused')), faults.fault('a', 'refused')],
    [true, true, false],
  );
  assert.deepEqual([faults.over('a'), faults.over('a'), faults.fault('a', 'refused')], [true, false, true]);
});

test('faults that come in turns are each news once until all are over', () => {
  const faults = new OngoingFaults<string>();
  assert.deepEqual(
    ['x', 'y', 'x', 'y'].map((why) => faults.fault(why)),
    [true, true, false, false],
  );
  faults.clear();
  assert.deepEqual([faults.size, faults.fault('x')], [0, true]);
});

test('what is gone is forgotten, and no more is remembered than allowed', () => {
  const faults = new OngoingFaults<number>(100);
  for (let n = 0; n < 1_000; n++) faults.fault(n, 'late');
  assert.equal(faults.size, 100);
  assert.deepEqual([faults.fault(0, 'late'), faults.fault(999, 'late')], [true, false]);
  faults.retain((n) => n === 999);
  assert.deepEqual([faults.size, faults.over(999), faults.over(0)], [1, true, false]);
});
