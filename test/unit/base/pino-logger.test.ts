import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Logger } from '../../../src/base/logger.ts';
import { pinoLogger } from '../../../src/base/pino-logger.ts';

const atMs = new Date(2026, 10, 21, 12, 14, 3, 123).getTime();

function printed(format: 'json' | 'text', verbosity: number, use: (log: Logger) => void): readonly string[] {
  let lines = '';
  const destination = { write: (text: string) => (lines += text) };
  use(pinoLogger({ format, verbosity, destination, nowMs: () => atMs }));
  return lines.split('\n').slice(0, -1);
}

const chain = new Error('pull image', { cause: new Error('refused') });

describe('text', () => {
  for (const [name, use, line] of [
    [
      'info',
      (log) => log.info('pod added', { pod: 'default/web', attempt: 3, ready: false }),
      'I1121 12:14:03.123 pod added pod="default/web" attempt=3 ready=false',
    ],
    ['warning', (log) => log.warn('slow', { list: ['a'] }), 'W1121 12:14:03.123 slow list=["a"]'],
    ['error', (log) => log.error('failed', { error: chain }), 'E1121 12:14:03.123 failed err="pull image: refused"'],
    ['detail', (log) => log.v(2, 'woken'), 'I1121 12:14:03.123 woken'],
    ['newlines stay in their line', (log) => log.info('a\nb', { c: 'd\ne' }), String.raw`I1121 12:14:03.123 a\nb c="d\ne"`],
    [
      'children add their fields',
      (log) => log.child({ pod: 'a/b' }).child({ x: 1 }).info('m', { y: 2 }),
      'I1121 12:14:03.123 m pod="a/b" x=1 y=2',
    ],
    [
      'secrets',
      (log) => log.child({ password: 'p' }).info('m', { token: 't' }),
      'I1121 12:14:03.123 m password="[redacted]" token="[redacted]"',
    ],
  ] as readonly (readonly [string, (log: Logger) => void, string])[]) {
    test(name, () => {
      assert.deepEqual(printed('text', 2, use), [line]);
    });
  }

  test('prints an error’s stack below its line from v=4 on', () => {
    const [line, ...stack] = printed('text', 4, (log) => log.error('failed', { error: chain }));
    assert.equal(line, 'E1121 12:14:03.123 failed err="pull image: refused"');
    assert.equal(stack.join('\n'), chain.stack);
  });

  test('a stack has no passwords in it either', () => {
    const printedLines = printed('text', 4, (log) => log.error('failed', { error: new Error('https://ann:hunter2@quay.io: EOF') }));
    assert.doesNotMatch(printedLines.join('\n'), /hunter2/);
  });
});

describe('json', () => {
  const ts = atMs / 1000;
  for (const [name, use, record] of [
    ['info', (log) => log.info('pod added', { pod: 'default/web' }), { level: 'info', ts, v: 0, msg: 'pod added', pod: 'default/web' }],
    ['detail', (log) => log.v(2, 'woken', { n: 1 }), { level: 'info', ts, v: 2, msg: 'woken', n: 1 }],
    ['warning', (log) => log.warn('slow'), { level: 'warning', ts, msg: 'slow' }],
    ['error', (log) => log.error('failed', { error: chain }), { level: 'error', ts, msg: 'failed', err: 'pull image: refused' }],
    [
      'secrets',
      (log) => log.info('m', { headers: { authorization: 'x' } }),
      { level: 'info', ts, v: 0, msg: 'm', headers: { authorization: '[redacted]' } },
    ],
  ] as readonly (readonly [string, (log: Logger) => void, object])[]) {
    test(name, () => {
      assert.deepEqual(
        printed('json', 2, use).map((line) => JSON.parse(line)),
        [record],
      );
    });
  }

  test('carries an error’s stack from v=4 on', () => {
    const [line = ''] = printed('json', 4, (log) => log.error('failed', { error: chain }));
    assert.equal(JSON.parse(line).stack, chain.stack);
  });
});

test('detail above the verbosity is not printed', () => {
  assert.deepEqual(
    printed('text', 2, (log) => {
      log.v(3, 'hidden');
      assert.deepEqual([log.enabled(2), log.enabled(3)], [true, false]);
    }),
    [],
  );
});

test('a destination that fails takes nothing down', () => {
  const destination = {
    write: () => {
      throw new Error('gone');
    },
  };
  for (const format of ['json', 'text'] as const) {
    assert.doesNotThrow(() => pinoLogger({ format, verbosity: 0, destination }).info('m'));
  }
});
