import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { logRotation, type LogRotationDeps } from '../../../../../src/engines/cri/logs/log-rotation.ts';
import { TimestampedLogs } from '../../../../../src/engines/cri/logs/timestamped-logs.ts';
import type { ContainerId } from '../../../../../src/ports/container-runtime.ts';
import { nothingGiven } from '../../../../builders/node-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../../../fakes/recording-logger.ts';

/** Containers c0, c1 … with full logs, and a rotation every 10 seconds that the test waits for. */
async function setUp(count: number, over: Partial<LogRotationDeps> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-cri-rotation-'));
  const containers = Array.from({ length: count }, (_, n) => ({ id: `c${n}` as ContainerId, logPath: join(directory, `c${n}.log`) }));
  for (const { logPath } of containers) await writeFile(logPath, 'x'.repeat(100));
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const stop = new AbortController();
  let round = Promise.withResolvers<void>();
  const service = logRotation({
    settings: () => ({ policy: { maxSizeBytes: 100, maxFiles: 5 }, intervalMs: 10_000, workers: 1 }),
    names: new TimestampedLogs(clock),
    running: async () => containers,
    reopen: async () => {},
    clock: {
      now: () => clock.now(),
      sleep: (ms, signal) => {
        round.resolve();
        round = Promise.withResolvers();
        return clock.sleep(ms, signal);
      },
    },
    log,
    ...over,
  });
  const first = round.promise;
  const running = service.run(stop.signal, nothingGiven);
  await first;
  return {
    log,
    files: async () => (await readdir(directory)).toSorted(),
    next: async () => {
      const { promise } = round;
      clock.advance(10_000);
      await promise;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await rm(directory, { recursive: true });
    },
  };
}

test('logs are looked at when the agent starts and each time the interval is over', async () => {
  const asked: string[] = [];
  await using at = await setUp(2, { reopen: async (id) => void asked.push(id) });
  assert.deepEqual(asked.toSorted(), ['c0', 'c1']);
  await at.next();
  assert.deepEqual(asked.length, 4, 'none has a log of its name now: each is asked for one');
});

test('no more logs are rotated at a time than there are workers', async () => {
  let now = 0;
  let most = 0;
  const two = Promise.withResolvers<void>();
  await using at = await setUp(6, {
    settings: () => ({ policy: { maxSizeBytes: 100, maxFiles: 5 }, intervalMs: 10_000, workers: 2 }),
    reopen: async () => {
      most = Math.max(most, ++now);
      if (most === 2) two.resolve();
      // However slow the disk is, the first waits for the second, and a third would be seen beside them.
      await two.promise;
      await new Promise((done) => setImmediate(done));
      now--;
    },
  });
  assert.equal(most, 2);
  assert.equal((await at.files()).length, 6);
});

test('a log that cannot be rotated is warned of once, and the others are rotated', async () => {
  const reopened: string[] = [];
  await using at = await setUp(3, {
    reopen: async (id) => {
      if (id === 'c1') throw new Error('no such container');
      reopened.push(id);
    },
  });
  await at.next();
  assert.deepEqual([...new Set(reopened)].toSorted(), ['c0', 'c2']);
  const warnings = at.log.lines.filter(({ level }) => level === 'warn');
  assert.equal(warnings.length, 1);
  assert.equal(warnings[0]?.message, 'a container log cannot be rotated; it grows until it can');
});

test('a policy that changes counts from the next look on, also where there was none', async () => {
  let policy: { readonly maxSizeBytes: number; readonly maxFiles: number } | undefined;
  await using at = await setUp(1, { settings: () => ({ policy, intervalMs: 10_000, workers: 1 }) });
  assert.deepEqual(await at.files(), ['c0.log']);
  policy = { maxSizeBytes: 1000, maxFiles: 5 };
  await at.next();
  assert.deepEqual(await at.files(), ['c0.log']);
  policy = { maxSizeBytes: 100, maxFiles: 5 };
  await at.next();
  assert.equal((await at.files()).filter((name) => name !== 'c0.log').length, 1);
});

test('a negative size turns rotation off, which is said', async () => {
  await using at = await setUp(1, {
    settings: () => ({ policy: undefined, intervalMs: 10_000, workers: 1 }),
    reopen: () => Promise.reject(new Error('not asked')),
  });
  assert.deepEqual(await at.files(), ['c0.log']);
  assert.equal(at.log.lines.at(-1)?.message, 'container logs are not rotated: containerLogMaxSize is negative');
});
