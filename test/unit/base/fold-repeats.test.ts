import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldRepeats, type FoldingLogger } from '../../../src/base/fold-repeats.ts';
import { type LogFields, type Logger, silentLogger } from '../../../src/base/logger.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function setUp(maxLines = 10): { readonly log: FoldingLogger; readonly clock: FakeClock; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const on = (context: LogFields): Logger => {
    const print =
      (level: string) =>
      (message: string, fields: LogFields = {}): void => {
        const all = Object.entries({ ...context, ...fields }).map(([key, value]) => `${key}=${String(value)}`);
        lines.push([level, message, ...all].join(' '));
      };
    return {
      ...silentLogger,
      enabled: (level) => level <= 2,
      v: (level, message, fields) => level <= 2 && print(`V${level}`)(message, fields),
      info: print('I'),
      warn: print('W'),
      error: print('E'),
      child: (fields) => on({ ...context, ...fields }),
      stream: (name) => on({ ...context, stream: name }),
    };
  };
  const clock = new FakeClock();
  return { log: foldRepeats(on({}), { clock, windowMs: 60_000, maxLines }), clock, lines };
}

test('a line is printed at once, its repeats once at the end of the window, and then nothing more', async () => {
  const { log, clock, lines } = setUp();
  for (let count = 0; count < 4; count++) {
    log.warn('pull failed', { pod: 'a/b', error: new Error('refused'), tookMs: count });
    await clock.advance(1_000);
  }
  assert.deepEqual(lines, ['W pull failed pod=a/b error=Error: refused tookMs=0']);
  await clock.advance(60_000);
  assert.deepEqual(lines.slice(1), ['W pull failed pod=a/b error=Error: refused tookMs=3 repeated=3']);
  await clock.advance(600_000);
  assert.equal(lines.length, 2);
  assert.equal(clock.actions.length, 0);
});

test('a line that goes on repeating is told once a window', async () => {
  const { log, clock, lines } = setUp();
  for (let second = 0; second < 180; second += 10) {
    log.info('same');
    await clock.advance(10_000);
  }
  assert.deepEqual(lines, ['I same', 'I same repeated=5', 'I same repeated=6', 'I same repeated=6']);
});

test('another line about the same pod tells the count first; one about another pod does not', () => {
  const { log, lines } = setUp();
  for (const pod of ['a/b', 'a/b', 'a/c', 'a/b']) log.info('waiting', { pod });
  log.info('started', { pod: 'a/b' });
  assert.deepEqual(lines, ['I waiting pod=a/b', 'I waiting pod=a/c', 'I waiting pod=a/b repeated=2', 'I started pod=a/b']);
  log.flush();
});

test('two lines that take turns are both folded', async () => {
  const { log, clock, lines } = setUp();
  for (let count = 0; count < 3; count++) {
    log.info('ping', { pod: 'a/b' });
    log.info('pong', { pod: 'a/b' });
  }
  assert.deepEqual(lines, ['I ping pod=a/b', 'I pong pod=a/b']);
  await clock.advance(60_000);
  assert.deepEqual(lines.slice(2), ['I ping pod=a/b repeated=2', 'I pong pod=a/b repeated=2']);
  log.flush();
});

test('the same words long after are news', async () => {
  const { log, clock, lines } = setUp();
  log.info('same');
  await clock.advance(60_001);
  log.info('same');
  assert.deepEqual(lines, ['I same', 'I same']);
});

test('a different exit code, level or error is a different line', () => {
  const { log, lines } = setUp();
  log.info('exited', { pod: 'a/b', exitCode: 1 });
  log.info('exited', { pod: 'a/b', exitCode: 2 });
  log.warn('exited', { pod: 'a/b', exitCode: 2 });
  log.v(2, 'exited', { pod: 'a/b', exitCode: 2 });
  log.v(3, 'exited', { pod: 'a/b', exitCode: 2 });
  assert.equal(lines.length, 4);
});

test('children fold with their own fields', () => {
  const { log, lines } = setUp();
  const child = log.child({ pod: 'a/b' });
  child.info('same');
  child.info('same');
  log.child({ pod: 'a/c' }).info('same');
  log.flush();
  assert.deepEqual(lines, ['I same pod=a/b', 'I same pod=a/c', 'I same pod=a/b repeated=1']);
});

test('memory is bounded: the oldest line is told and forgotten', () => {
  const { log, lines } = setUp(2);
  for (const name of ['a', 'a', 'b', 'c', 'a']) log.info(name);
  assert.deepEqual(lines, ['I a', 'I b', 'I a repeated=1', 'I c', 'I a']);
  log.flush();
});

test('flush tells what was counted and stops the timer', async () => {
  const { log, clock, lines } = setUp();
  log.info('same');
  log.info('same');
  log.flush();
  assert.deepEqual(lines, ['I same', 'I same repeated=1']);
  await clock.advance(120_000);
  assert.equal(lines.length, 2);
});

test('what a line was about is forgotten at the end of its window, also where no other line follows', async () => {
  const clock = new FakeClock();
  const folded = foldRepeats(silentLogger, { clock, windowMs: 60_000, subject: ['pod'] });
  folded.info('sandbox stopped', { pod: 'web' });
  assert.equal(clock.actions.length, 1, 'one timer runs');
  await clock.advance(60_000);
  assert.equal(clock.actions.length, 0, 'and none once nothing is remembered');
});
