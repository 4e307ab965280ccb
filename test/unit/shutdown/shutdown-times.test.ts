import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { stateFiles } from '../../../src/agent/state-files.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { ShutdownTimes } from '../../../src/shutdown/shutdown-times.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const { signal } = new AbortController();

test('times are in the file of the kubelet, in its form, and outlive the agent', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-times-'));
  t.after(() => rm(directory, { recursive: true }));
  const path = join(directory, 'graceful_node_shutdown_state');
  const times = (): ShutdownTimes =>
    new ShutdownTimes(stateFiles(directory, { log: silentLogger }), { clock: systemClock, log: silentLogger });
  assert.deepEqual(times().load(), { startedAtMs: undefined, endedAtMs: undefined });
  const startedAtMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  await times().save({ startedAtMs, endedAtMs: undefined }, signal);
  assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), { startTime: '2026-01-02T03:04:05Z', endTime: '0001-01-01T00:00:00Z' });
  assert.deepEqual(times().load(), { startedAtMs, endedAtMs: undefined });
  await writeFile(path, '{"startTime":"2026-01-02T03:04:05.123456789+01:00","endTime":"2026-01-02T03:04:15.5+01:00"}');
  assert.equal(times().load().endedAtMs, Date.UTC(2026, 0, 2, 2, 4, 15, 500));
  await writeFile(path, '{"startTime":5}');
  assert.deepEqual(times().load(), { startedAtMs: undefined, endedAtMs: undefined });
});

for (const [how, save] of [
  ['does not answer', () => new Promise<void>(() => {})],
  ['is full', () => Promise.reject(new Error('ENOSPC'))],
] as const)
  test(`a disk that ${how} holds the machine up for a second at most, and that is told`, async () => {
    const [clock, log] = [new FakeClock(), new RecordingLogger()];
    const times = new ShutdownTimes({ open: () => ({ load: () => undefined, save }) }, { clock, log });
    const saved = times.save({ startedAtMs: 1, endedAtMs: 2 }, signal);
    await clock.advance(1_000);
    await saved;
    assert.match(log.lines.at(-1)?.message ?? '', /not saved/);
  });
