import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { LogWatches } from '../../../../../src/engines/common/logs/log-watches.ts';
import { numberedLogs } from '../../../../../src/engines/common/logs/rotated-logs.ts';
import { readLog } from '../../../../../src/engines/common/logs/read-log.ts';
import type { LogOptions } from '../../../../../src/ports/container-access.ts';
import { systemClock } from '../../../../../src/base/clock.ts';

const line = (n: number): string =>
  `${JSON.stringify({ log: `${n}\n`, stream: 'stdout', time: new Date(1_600_000_000_000 + n * 1000).toISOString() })}\n`;
const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a log that is rotated', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rxlet-logs-'));
    path = join(directory, 'c-json.log');
  });
  afterEach(() => rm(directory, { recursive: true }));

  /** As the engine does it, step by step: the oldest goes, each gets the next number, a new one is begun. */
  async function rotate(maxFiles: number): Promise<void> {
    const step = async (work: Promise<void>): Promise<void> => {
      await work.catch(() => {});
      await turn();
    };
    await step(unlink(`${path}.${maxFiles - 1}`));
    const rotated = (await readdir(directory)).length - 1;
    for (let i = Math.min(maxFiles - 1, rotated + 1); i > 1; i--) await step(rename(`${path}.${i - 1}`, `${path}.${i}`));
    await step(rename(path, `${path}.1`));
    await step(writeFile(path, ''));
  }

  /** Lines 1 to `last`, so many a file. */
  async function write(last: number, linesAFile: number, maxFiles: number): Promise<void> {
    await writeFile(path, '');
    for (const n of numbers(1, last)) {
      await appendFile(path, line(n));
      if (n % linesAFile === 0 && n < last) await rotate(maxFiles);
    }
  }

  async function read(
    options: Partial<LogOptions> = {},
    until?: number,
    onLine?: (n: number) => Promise<void>,
  ): Promise<readonly number[]> {
    const seen: number[] = [];
    const gone = new AbortController();
    const follow = until !== undefined;
    const watches = new LogWatches(systemClock);
    const watch = follow ? watches.open(path, () => Promise.resolve(true)) : undefined;
    try {
      let text = '';
      for await (const { bytes } of readLog(path, numberedLogs, { follow, timestamps: false, ...options }, watch, gone.signal)) {
        text += Buffer.from(bytes).toString();
        const whole = text.split('\n');
        text = whole.pop() ?? '';
        for (const each of whole) {
          seen.push(Number(each));
          await onLine?.(Number(each));
          if (Number(each) === until) gone.abort();
        }
      }
      return seen;
    } finally {
      watch?.close();
    }
  }

  test('is read from the oldest file on', async () => {
    await write(47, 10, 10);
    assert.deepEqual(await read(), numbers(1, 47));
  });

  test('is read as far as the engine keeps it', async () => {
    await write(47, 10, 3);
    assert.deepEqual(await read(), numbers(21, 47));
  });

  test('has its last lines in several files', async () => {
    await write(47, 10, 10);
    for (const tailLines of [0, 1, 6, 7, 8, 17, 18, 47, 100]) {
      assert.deepEqual(await read({ tailLines }), numbers(48 - Math.min(47, tailLines), 47), `${tailLines} lines`);
    }
  });

  test('has its lines since some time in several files', async () => {
    await write(47, 10, 10);
    assert.deepEqual(await read({ sinceMs: 1_600_000_000_000 + 15_000 }), numbers(15, 47));
  });

  test('right after a rotation has its last lines in the files before', async () => {
    await write(20, 10, 5);
    await rotate(5);
    assert.deepEqual(await read({ tailLines: 3 }), [18, 19, 20]);
  });

  test('has a compressed file, or one of another name, beside it, which is none of it', async () => {
    await write(15, 10, 5);
    await writeFile(`${path}.2.gz`, 'x');
    await writeFile(`${path}.bak`, line(99));
    await writeFile(`${path}.01`, line(99));
    assert.deepEqual(await read(), numbers(1, 15));
  });

  test('is followed through many rotations without a line lost or repeated, from the start and from its last lines', async () => {
    await write(25, 10, 1000);
    const following = [read({}, 700), read({ tailLines: 12 }, 700), read({ tailLines: 0 }, 700)];
    // The third begins wherever the log is when it opens it.
    await turn();
    for (const n of numbers(26, 700)) {
      await appendFile(path, line(n));
      if (n % 20 === 0) await rotate(1000);
    }
    const [all, last, new_] = await Promise.all(following);
    assert.deepEqual(all, numbers(1, 700));
    assert.deepEqual(last, numbers(last?.[0] ?? 0, 700));
    assert.ok((last?.[0] ?? 0) >= 14);
    assert.deepEqual(new_, numbers(new_?.[0] ?? 0, 700));
  });

  test('is read whole while it is rotated', async () => {
    await write(100, 10, 1000);
    const state = { writing: true };
    const reads: (readonly number[])[] = [];
    const reading = (async () => {
      while (state.writing) reads.push(await read(), await read({ tailLines: 40 }));
    })();
    for (let n = 101; n <= 300 || reads.length < 10; n++) {
      await appendFile(path, line(n));
      if (n % 20 === 0) await rotate(1000);
    }
    state.writing = false;
    await reading;
    for (const seen of reads) assert.deepEqual(seen, numbers(seen[0] ?? 0, (seen[0] ?? 0) + seen.length - 1));
    for (const [i, seen] of reads.entries()) {
      if (i % 2 === 0) assert.equal(seen[0], 1);
      else assert.ok(seen.length >= 40);
    }
  });

  test('that goes faster than its reader loses what the engine has removed, and repeats nothing', async () => {
    await write(25, 10, 4);
    let written = 25;
    const seen = await read({}, 500, async (n) => {
      // Now and then the reader stops, while whole files go.
      if (n % 10 !== 5) return;
      for (const next of numbers(written + 1, Math.min(500, written + 70))) {
        await appendFile(path, line(next));
        if (next % 10 === 0) await rotate(4);
        written = next;
      }
    });
    assert.equal(seen.at(-1), 500);
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(seen).size, seen.length);
    assert.ok(seen.length > 30 && seen.length < 500, String(seen.length));
  });
});
