import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeLog } from '../../../../src/engines/fake/fake-log.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const textOf = (log: FakeLog): string => log.kept.map(({ bytes }) => Buffer.from(bytes).toString()).join(' ');

test('a log is rotated once it is large enough, at most every 10 s, and keeps so many files', async () => {
  const clock = new FakeClock();
  const log = new FakeLog(clock, { maxSizeBytes: 4, maxFiles: 3 });
  const add = (text: string): void => log.add({ atMs: clock.now(), stream: 'stdout', bytes: Buffer.from(text) });
  add('a1');
  add('a2');
  add('b1');
  add('b2');
  assert.equal(textOf(log), 'a1 a2 b1 b2', 'what is rotated is still read');
  for (const name of ['c', 'd', 'e']) {
    await clock.advance(10_000);
    add(`${name}1`);
    add(`${name}2`);
  }
  await clock.advance(10_000);
  assert.equal(textOf(log), 'c2 d1 d2 e1 e2'.replace('c2 ', 'c2 '));
});

test('without a policy the last mebibyte is kept', () => {
  const log = new FakeLog(new FakeClock(), undefined);
  for (let i = 0; i < 3000; i++) log.add({ atMs: 0, stream: 'stdout', bytes: Buffer.alloc(1024, i % 7) });
  assert.equal(log.kept.length, 1024);
});
