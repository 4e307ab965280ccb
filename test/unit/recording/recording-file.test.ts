import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { RecordingFile } from '../../../src/recording/recording-file.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

function directory(context: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'rxlet-recording-'));
  context.after(() => rmSync(made, { recursive: true }));
  return made;
}

const line = (of: number): { in: 'timer'; of: number; t: number } => ({ in: 'timer', of, t: of });

test('a recording is for its owner alone, and ends with its end', async (context) => {
  const path = join(directory(context), 'rec');
  const file = await RecordingFile.create({ path, maxBytes: 1 << 20, clock: new FakeClock(), log: new RecordingLogger() });
  file.write(line(1));
  await file.close();

  assert.equal(readFileSync(path, 'utf8'), '{"in":"timer","of":1,"t":1}\n{"end":true}\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('what was there before is kept, and a link is not followed', async (context) => {
  const path = join(directory(context), 'rec');
  writeFileSync(`${path}.target`, 'not ours');
  symlinkSync(`${path}.target`, path);
  const file = await RecordingFile.create({ path, maxBytes: 1 << 20, clock: new FakeClock(), log: new RecordingLogger() });
  file.write(line(1));
  await file.close();

  assert.equal(readFileSync(`${path}.target`, 'utf8'), 'not ours');
  assert.equal(readFileSync(`${path}.previous`, 'utf8'), 'not ours');
  assert.match(readFileSync(path, 'utf8'), /timer/);
});

test('a recording ends at its bound, whole lines only, and says so once', async (context) => {
  const path = join(directory(context), 'rec');
  const log = new RecordingLogger();
  const file = await RecordingFile.create({ path, maxBytes: 100, clock: new FakeClock(), log });
  for (let at = 1; at <= 9; at++) file.write(line(at));
  await file.close();

  assert.equal(readFileSync(path, 'utf8').trim().split('\n').length, 3);
  assert.equal(log.lines.filter(({ message }) => message.startsWith('recording ended')).length, 1);
});

test('where a recording cannot be made, the reason names the file and the flag', async () => {
  const log = new RecordingLogger();
  const made = RecordingFile.create({ path: '/proc/rec', maxBytes: 100, clock: new FakeClock(), log });
  await assert.rejects(made, /cannot record to \/proc\/rec \(--record\)/);
});
