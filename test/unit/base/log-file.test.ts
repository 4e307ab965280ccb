import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { logDestination, takenBy } from '../../../src/base/log-destination.ts';
import { LogFile } from '../../../src/base/log-file.ts';
import { pinoLogger } from '../../../src/base/pino-logger.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function setUp(t: TestContext, maxBytes = 100) {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-log-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const [clock, faults] = [new FakeClock(), [] as string[]];
  const open = (path: string): LogFile => new LogFile({ clock, path, maxBytes, onFault: (message) => faults.push(message) });
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
  return { dir, clock, faults, open, read };
}

test('it and its directory are for their owner alone, and it goes on where it is', (t) => {
  const { dir, open, read, faults } = setUp(t);
  for (const line of ['one\n', 'two\n']) assert.equal(open(join(dir, 'logs/agent.log')).write(line), true);
  assert.equal(read('logs/agent.log'), 'one\ntwo\n');
  assert.deepEqual([statSync(join(dir, 'logs')).mode & 0o777, statSync(join(dir, 'logs/agent.log')).mode & 0o777], [0o700, 0o600]);
  assert.deepEqual(faults, []);
});

test('it is never larger than its bound, and with the one before never twice that', (t) => {
  const { dir, open, read } = setUp(t, 100);
  const file = open(join(dir, 'log'));
  for (let line = 0; line < 100; line++) {
    file.write(`line ${line}\n`);
    for (const name of readdirSync(dir)) assert.ok(statSync(join(dir, name)).size <= 100, name);
  }
  assert.deepEqual(readdirSync(dir).toSorted(), ['log', 'log.1']);
  assert.match(read('log.1') + read('log'), /line 90\n(.*\n)*line 99\n$/);
});

test('a file that something else has emptied is not begun again for that', (t) => {
  const { dir, open, read } = setUp(t, 100);
  const file = open(join(dir, 'log'));
  file.write(`${'a'.repeat(90)}\n`);
  writeFileSync(join(dir, 'log'), '');
  file.write('after all of that\n');
  assert.deepEqual([readdirSync(dir), read('log')], [['log'], 'after all of that\n']);
});

test('what cannot be written is lost and counted, said once, and tried again after a minute', async (t) => {
  const { dir, clock, open, read, faults } = setUp(t);
  const path = join(dir, 'log');
  execFileSync('mkfifo', [path]);
  const file = open(path);
  assert.deepEqual([file.write('one\n'), file.write('two\n')], [false, false]);
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? '', /^the log file .*log cannot be written: ENXIO/);
  rmSync(path);
  assert.equal(file.write('three\n'), false);
  await clock.advance(60_000);
  assert.equal(file.write('four\n'), true);
  assert.deepEqual([faults[1], read('log')], [`the log file ${path} is written again: 3 lines are lost`, 'four\n']);
});

test('a link is followed, and a terminal or another device has no size', (t) => {
  const { dir, open, read } = setUp(t, 10);
  writeFileSync(join(dir, 'file'), '');
  symlinkSync('file', join(dir, 'link'));
  assert.equal(open(join(dir, 'link')).write('one\n'), true);
  assert.equal(read('file'), 'one\n');
  const device = open('/dev/null');
  for (let line = 0; line < 10; line++) assert.equal(device.write('a long line of text\n'), true);
  assert.ok(statSync('/dev/null').isCharacterDevice());
});

/** What each file and standard error have of a line of each severity. */
function split(alsoFrom: 'info' | 'warning' | 'error' | 'none', oneOutput: boolean, format: 'json' | 'text' = 'text', fails = false) {
  const said = { info: '', warning: '', error: '', standardError: '' };
  const files = (['info', 'warning', 'error'] as const).map((severity) => ({
    takes: takenBy(severity, oneOutput),
    write: (line: string) => (said[severity] += /\b[abc]\b/.exec(line)?.[0] ?? '?') !== '' && !fails,
  }));
  const standardError = { write: (line: string) => void (said.standardError += /\b[abc]\b/.exec(line)?.[0] ?? '?') };
  const log = pinoLogger({ format, verbosity: 0, destination: logDestination({ standardError, files, alsoFrom }), headers: false });
  log.info('a');
  log.warn('b');
  log.error('c');
  return said;
}

test('a severity has a file, with what is worse or without, and standard error what it is to have', () => {
  for (const format of ['json', 'text'] as const) {
    assert.deepEqual(split('error', false, format), { info: 'abc', warning: 'bc', error: 'c', standardError: 'c' });
    assert.deepEqual(split('warning', true, format), { info: 'a', warning: 'b', error: 'c', standardError: 'bc' });
    assert.equal(split('info', false, format).standardError, 'abc');
    assert.equal(split('none', false, format).standardError, '');
  }
});

test('a line that no file takes is on standard error', () => {
  assert.equal(split('none', false, 'text', true).standardError, 'abc');
});

test('without headers a line is its message and its fields', () => {
  const said: string[] = [];
  const destination = { write: (line: string) => void said.push(line) };
  pinoLogger({ format: 'text', verbosity: 0, destination, headers: false }).info('pod started', { pod: 'a' });
  assert.deepEqual(said, ['pod started pod="a"\n']);
});
