import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { LogWatches } from '../../../../../src/engines/common/logs/log-watches.ts';
import { containerLogs } from '../../../../../src/engines/cri/logs/container-logs.ts';
import { rotateLog } from '../../../../../src/engines/cri/logs/rotate-log.ts';
import { TimestampedLogs } from '../../../../../src/engines/cri/logs/timestamped-logs.ts';
import type { LogOptions } from '../../../../../src/ports/container-access.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

const NOW_MS = Date.parse('2026-03-04T05:06:07Z');
const policy = { maxSizeBytes: 100, maxFiles: 3 };

/** A directory with the log of a container that the test writes. */
async function aLog() {
  const directory = await mkdtemp(join(tmpdir(), 'rxlet-cri-logs-'));
  const path = join(directory, '0.log');
  const clock = new FakeClock();
  const names = new TimestampedLogs(clock);
  const signal = new AbortController().signal;
  let writesTo = path;
  return {
    directory,
    path,
    clock,
    names,
    line: (text: string) => appendFile(writesTo, `2026-03-04T05:06:07.000000000Z stdout F ${text}\n`),
    /** The runtime goes on in the old file until it is asked to reopen the log. */
    rotate: async (nowMs: number, reopen: () => Promise<void> = async () => writeFile(path, '')) => {
      const name = (await readdir(directory)).length;
      await rotateLog(path, { names, policy, nowMs, reopen }, signal);
      return name;
    },
    writesTo: (to: string) => (writesTo = join(directory, to)),
    files: async () => (await readdir(directory)).toSorted(),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

describe('rotateLog', () => {
  test('leaves a log alone that is not as large as it may be', async () => {
    await using log = await aLog();
    await writeFile(log.path, 'x'.repeat(99));
    await log.rotate(NOW_MS, () => Promise.reject(new Error('not asked')));
    assert.deepEqual(await log.files(), ['0.log']);
  });

  test('compresses all rotated ones but the newest, with the mode and the text that they had', async () => {
    await using log = await aLog();
    await writeFile(log.path, 'first'.repeat(20), { mode: 0o640 });
    await log.rotate(NOW_MS);
    await writeFile(log.path, 'second'.repeat(20));
    await log.rotate(NOW_MS + 10_000);
    assert.deepEqual(await log.files(), ['0.log', '0.log.20260304-050607.gz', '0.log.20260304-050617']);
    const compressed = join(log.directory, '0.log.20260304-050607.gz');
    assert.equal(gunzipSync(await readFile(compressed)).toString(), 'first'.repeat(20));
    assert.equal((await stat(compressed)).mode & 0o777, 0o640);
    await writeFile(log.path, 'third'.repeat(30));
    await log.rotate(NOW_MS + 20_000);
    assert.deepEqual(await log.files(), ['0.log', '0.log.20260304-050617.gz', '0.log.20260304-050627'], 'no more than maxFiles');
  });

  test('gives the log its name back where the runtime cannot reopen it', async () => {
    await using log = await aLog();
    await writeFile(log.path, 'x'.repeat(100));
    await assert.rejects(
      log.rotate(NOW_MS, () => Promise.reject(new Error('no'))),
      { message: 'no' },
    );
    assert.deepEqual(await log.files(), ['0.log']);
    assert.equal(await readFile(log.path, 'utf8'), 'x'.repeat(100));
  });

  test('begins a log that is not there', async () => {
    await using log = await aLog();
    await log.rotate(NOW_MS);
    assert.deepEqual(await log.files(), ['0.log']);
  });
});

describe('the log of a container that is rotated', () => {
  const read = async (log: Awaited<ReturnType<typeof aLog>>, over: Partial<LogOptions>, running = false): Promise<string> => {
    let seen = '';
    const deps = { names: log.names, watches: new LogWatches(log.clock), look: async () => ({ logPath: log.path, running }) };
    const options = { follow: false, timestamps: false, ...over };
    for await (const { bytes } of containerLogs(deps, 'id', options, new AbortController().signal)) seen += Buffer.from(bytes).toString();
    return seen;
  };

  test('is read from the oldest file that is not compressed, and its tail over both', async () => {
    await using log = await aLog();
    for (const n of [1, 2, 3]) await log.line(`old ${n}`);
    await log.rotate(NOW_MS);
    for (const n of [1, 2]) await log.line(`new ${n}`);
    await mkdir(join(log.directory, '0.log.20260304-050600.gz'));
    assert.equal(await read(log, {}), 'old 1\nold 2\nold 3\nnew 1\nnew 2\n');
    assert.equal(await read(log, { tailLines: 3 }), 'old 3\nnew 1\nnew 2\n');
  });

  test('is followed over rotations: nothing is lost and nothing comes twice', async () => {
    await using log = await aLog();
    let running = true;
    const deps = { names: log.names, watches: new LogWatches(log.clock), look: async () => ({ logPath: log.path, running }) };
    await log.line('0');
    let seen = '';
    let more = Promise.withResolvers<void>();
    const followed = (async () => {
      for await (const { bytes } of containerLogs(deps, 'id', { follow: true, timestamps: false }, new AbortController().signal)) {
        seen += Buffer.from(bytes).toString();
        more.resolve();
        more = Promise.withResolvers();
      }
      return seen;
    })();
    const lines = 200;
    for (let n = 1; n < lines; n++) {
      await log.line(String(n));
      if (n % 40 !== 0) continue;
      const nowMs = NOW_MS + n * 1000;
      const rotated = `0.log.${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`;
      await log.rotate(nowMs, async () => {
        // The runtime writes to the old file until the new one is its own.
        log.writesTo(rotated);
        await log.line(`${n}, late`);
        await writeFile(log.path, '');
        log.writesTo('0.log');
        await log.line(`${n}, later`);
      });
      // containerd does not wait for the last lines of the old file.
      log.writesTo(rotated);
      await log.line(`${n}, last`);
      log.writesTo('0.log');
      // It goes on in the new file some time before the next rotation.
      while (!seen.includes(`${n}, later\n`)) await log.clock.until(more.promise, 100);
    }
    running = false;
    const expected = Array.from({ length: lines }, (_, n) =>
      n > 0 && n % 40 === 0 ? `${n}\n${n}, late\n${n}, last\n${n}, later\n` : `${n}\n`,
    ).join('');
    assert.equal(await log.clock.until(followed, 100), expected);
  });
});
