import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_WAITING_BYTES, UnhurriedLines } from '../../../src/base/unhurried-lines.ts';

/** A pipe with room for some bytes, and a clock that only its user moves. */
function aPipe() {
  const later: { readonly work: () => void; readonly ms: number }[] = [];
  const pipe = { room: 0, taken: '', failsWith: '', pausedMs: 0, onPause: () => {} };
  const fail = (code: string): never => {
    throw Object.assign(new Error(code), { code });
  };
  const lines = new UnhurriedLines({
    put: (bytes) => {
      if (pipe.failsWith !== '') return fail(pipe.failsWith);
      if (pipe.room === 0) return fail('EAGAIN');
      const part = bytes.subarray(0, pipe.room);
      pipe.room -= part.length;
      pipe.taken += part.toString();
      return part.length;
    },
    later: (work, ms) => void later.push({ work, ms }),
    pause: (ms) => {
      pipe.pausedMs += ms;
      pipe.onPause();
    },
  });
  return { lines, pipe, later, retry: () => later.shift()?.work() };
}

test('what is taken is written before the call returns, and nothing is done later', () => {
  const { lines, pipe, later } = aPipe();
  pipe.room = 100;
  lines.write('one\n');
  assert.equal(pipe.taken, 'one\n');
  assert.equal(later.length, 0);
  lines.end();
  assert.equal(pipe.pausedMs, 0);
});

test('a reader that is behind gets all lines, in their order, each whole', () => {
  const { lines, pipe, later, retry } = aPipe();
  pipe.room = 6;
  for (const line of ['one\n', 'two\n', 'three\n']) lines.write(line);
  assert.equal(pipe.taken, 'one\ntw');
  assert.equal(later.length, 1);
  pipe.room = 100;
  lines.write('four\n');
  assert.equal(pipe.taken, 'one\ntwo\nthree\nfour\n');
  retry();
  assert.equal(later.length, 0);
});

test('it is tried again without a word, ever more seldom, but every second', () => {
  const { lines, pipe, later, retry } = aPipe();
  lines.write('one\n');
  const waits = Array.from({ length: 12 }, () => {
    const ms = later[0]?.ms;
    retry();
    return ms;
  });
  assert.deepEqual(waits, [10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000, 1000, 1000]);
  pipe.room = 2;
  retry();
  assert.equal(later[0]?.ms, 10);
});

test('what waits is bounded; what is lost is counted, and said once where it was', () => {
  const { lines, pipe, retry } = aPipe();
  const line = `${'x'.repeat(1023)}\n`;
  const most = MOST_WAITING_BYTES / 1024;
  for (let index = 0; index < most + 5; index++) lines.write(line);
  pipe.room = 4096;
  retry();
  lines.write('after\n');
  pipe.room = Number.POSITIVE_INFINITY;
  lines.write('last\n');
  const taken = pipe.taken.split('\n');
  assert.equal(taken.filter((each) => each.startsWith('xxx')).length, most);
  assert.deepEqual(taken.slice(most), ['rxlet: 5 lines of the log are lost: they could not be written', 'after', 'last', '']);
});

test('one line that is longer than all that may wait is taken where nothing waits', () => {
  const { lines, pipe, retry } = aPipe();
  lines.write(`${'x'.repeat(MOST_WAITING_BYTES)}\n`);
  lines.write('lost\n');
  pipe.room = Number.POSITIVE_INFINITY;
  retry();
  assert.equal(pipe.taken.length, MOST_WAITING_BYTES + 1 + 'rxlet: 1 lines of the log are lost: they could not be written\n'.length);
});

test('a reader that is gone costs a call each line; what was lost is said to the next, in a line of its own', () => {
  const { lines, pipe, later, retry } = aPipe();
  pipe.room = 2;
  lines.write('one\n');
  pipe.failsWith = 'EPIPE';
  lines.write('two\n');
  retry();
  assert.equal(later.length, 0);
  pipe.failsWith = '';
  pipe.room = 1000;
  lines.write('three\n');
  assert.equal(pipe.taken, 'on\nrxlet: 2 lines of the log are lost: they could not be written\nthree\n');
});

test('the end waits for a reader that takes something, and for one that does not only a second', () => {
  const { lines, pipe } = aPipe();
  lines.write('x'.repeat(500));
  pipe.onPause = () => {
    if (pipe.pausedMs % 500 === 0 && pipe.pausedMs <= 3000) pipe.room = 50;
  };
  lines.end();
  assert.equal(pipe.taken.length, 300);
  assert.equal(pipe.pausedMs, 4000);
});

test('the end waits five seconds at the most for a reader that takes a little now and then', () => {
  const { lines, pipe } = aPipe();
  lines.write('x'.repeat(500));
  pipe.onPause = () => {
    pipe.room = pipe.pausedMs % 500 === 0 ? 1 : 0;
  };
  lines.end();
  assert.equal(pipe.pausedMs, 5000);
});
