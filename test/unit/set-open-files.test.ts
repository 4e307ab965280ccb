import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { openFileLimit } from '../../src/base/open-file-limit.ts';
import { setOpenFiles } from '../../src/set-open-files.ts';
import { RecordingLogger } from '../fakes/recording-logger.ts';

const never = new AbortController().signal;
const deps = (log: RecordingLogger, over: object = {}) => ({ clock: systemClock, log, ...over });
const MISSING = '/nonexistent/prlimit';

test('a number that is asked for is the limit from then on, soft and hard', async () => {
  const log = new RecordingLogger();
  const asked = openFileLimit() - 1;
  await setOpenFiles({ maxOpenFiles: asked, asked: true }, deps(log), never);
  assert.equal(openFileLimit(), asked);
  const { stdout } = await promisify(execFile)('prlimit', ['--nofile', '--output=HARD', '--noheadings', '--pid', `${process.pid}`]);
  assert.equal(stdout.trim(), `${asked}`);
  assert.deepEqual(log.lines, []);
});

for (const [what, wanted, now] of [
  ['is the limit', { maxOpenFiles: 5, asked: true }, 5],
  ['is higher, nobody has asked for it, and this process may not raise it', { maxOpenFiles: 9, asked: false }, 5],
  ['is lower, and nobody has asked for it', { maxOpenFiles: 1_000_000, asked: false }, 1_048_576],
  ['is nothing', { maxOpenFiles: 0, asked: true }, 5],
] as const)
  test(`nothing is started where the number ${what}`, async () => {
    const log = new RecordingLogger();
    await setOpenFiles(wanted, deps(log, { limit: () => now, mayRaise: () => false, program: MISSING }), never);
    assert.deepEqual(log.lines, []);
  });

for (const [what, program, why] of [
  ['cannot be set', 'false', /prlimit ended with 1/],
  ['has no program to set it', MISSING, /prlimit of util-linux is needed: .*ENOENT/],
] as const)
  test(`a limit that ${what} is said where somebody has asked for it, and stays`, async () => {
    const log = new RecordingLogger();
    await setOpenFiles({ maxOpenFiles: 9, asked: true }, deps(log, { limit: () => 7, program }), never);
    const [line, ...more] = log.lines;
    assert.deepEqual([line?.level, line?.fields['mayOpen'], more], ['warn', 7, []]);
    assert.match(String(line?.fields['why']), why);
    await setOpenFiles({ maxOpenFiles: 9, asked: false }, deps(log, { limit: () => 7, mayRaise: () => true, program }), never);
    assert.deepEqual(
      log.lines.slice(1).filter(({ level }) => level === 'warn'),
      [],
    );
  });
