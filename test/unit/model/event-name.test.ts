import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventName, eventNamer } from '../../../src/model/event-name.ts';

test('an event is named after its object and the nanoseconds of its time', () => {
  assert.equal(eventName('web', 1_612_325_106_000_000_000n), 'web.166021243592f400');
});

test('a long name is cut so that the whole is a valid name', () => {
  const at = 1_612_325_106_000_000_000n;
  const name = eventName(`${'a'.repeat(234)}.-${'b'.repeat(17)}`, at);
  assert.equal(name, `${'a'.repeat(234)}.166021243592f400`);
  assert.equal(eventName('c'.repeat(253), at).length, 253);
});

test('names of one millisecond differ, and a clock set back gives no name twice', () => {
  let nowMs = 1000;
  const name = eventNamer({ now: () => nowMs });
  const names = [name('web'), name('web'), name('web')];
  nowMs = 999;
  names.push(name('web'));
  nowMs = 1001;
  names.push(name('web'));
  assert.deepEqual(names, ['web.3b9aca00', 'web.3b9aca01', 'web.3b9aca02', 'web.3b9aca03', 'web.3baa0c40']);
});
