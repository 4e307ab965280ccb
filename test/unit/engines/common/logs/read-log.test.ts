import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { LogWatches } from '../../../../../src/engines/common/logs/log-watches.ts';
import { numberedLogs } from '../../../../../src/engines/common/logs/rotated-logs.ts';
import { readLog } from '../../../../../src/engines/common/logs/read-log.ts';
import type { LogOptions } from '../../../../../src/ports/container-access.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';

const line = (text: string): string => `${JSON.stringify({ log: `${text}\n`, stream: 'stdout', time: '2021-02-03T04:05:06Z' })}\n`;
const ALL: LogOptions = { follow: true, timestamps: false };

describe('a log file', () => {
  let directory: string;
  let path: string;
  let clock: FakeClock;
  let watches: LogWatches;
  let running: boolean;
  let gone: AbortController;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rxlet-logs-'));
    path = join(directory, 'c-json.log');
    clock = new FakeClock();
    watches = new LogWatches(clock);
    running = true;
    gone = new AbortController();
  });
  afterEach(async () => {
    assert.equal(clock.actions.length, 0, 'no timer is left');
    await rm(directory, { recursive: true });
  });

  /** Follows until the text ends so, then calls `then`. */
  async function follow(steps: Readonly<Record<string, () => Promise<void>>>, options = ALL): Promise<string> {
    const watch = watches.open(path, () => Promise.resolve(running));
    let seen = '';
    try {
      for await (const { bytes } of readLog(path, numberedLogs, options, watch, gone.signal)) {
        seen += Buffer.from(bytes).toString();
        for (const [text, step] of Object.entries(steps)) if (seen.endsWith(text)) await step();
      }
      return seen;
    } finally {
      watch.close();
    }
  }

  const stop = (): Promise<void> => {
    gone.abort();
    return Promise.resolve();
  };

  test('is read to its end without a watch', async () => {
    await writeFile(path, line('one') + line('two'));
    let seen = '';
    for await (const { bytes } of readLog(path, numberedLogs, { ...ALL, follow: false }, undefined, gone.signal))
      seen += Buffer.from(bytes).toString();
    assert.equal(seen, 'one\ntwo\n');
  });

  test('of megabytes gives every line once, also those that lie across blocks', async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `${n} ${'x'.repeat(n % 300)}`);
    await writeFile(path, lines.map(line).join(''));
    const read = async (options: LogOptions): Promise<string> => {
      let seen = '';
      for await (const { bytes } of readLog(path, numberedLogs, options, undefined, gone.signal)) seen += Buffer.from(bytes).toString();
      return seen;
    };
    assert.equal(await read({ ...ALL, follow: false }), lines.map((text) => `${text}\n`).join(''));
    for (const tailLines of [1, 7, 5_000, 19_999, 20_000, 30_000]) {
      const expected = lines.slice(-tailLines).map((text) => `${text}\n`);
      assert.equal(await read({ ...ALL, follow: false, tailLines }), expected.join(''));
    }
  });

  test('with a line longer than a block is read', async () => {
    await writeFile(path, line('x'.repeat(300_000)) + line('end'));
    assert.equal(await follow({ 'end\n': stop }), `${'x'.repeat(300_000)}\nend\n`);
  });

  test('is followed as it grows', async () => {
    await writeFile(path, line('one'));
    assert.equal(await follow({ 'one\n': () => appendFile(path, line('two')), 'two\n': stop }), 'one\ntwo\n');
  });

  test('gives a line once it is whole', async () => {
    const [begin, end] = [line('two').slice(0, 20), line('two').slice(20)];
    await writeFile(path, line('one') + begin);
    assert.equal(await follow({ 'one\n': () => appendFile(path, end), 'two\n': stop }), 'one\ntwo\n');
  });

  test('is followed into the next one when it is rotated, and nothing between is lost', async () => {
    await writeFile(path, line('one'));
    const rotate = async (): Promise<void> => {
      await appendFile(path, line('two'));
      await rename(path, `${path}.1`);
      await writeFile(path, line('three'));
    };
    assert.equal(await follow({ 'one\n': rotate, 'three\n': stop }), 'one\ntwo\nthree\n');
  });

  test('is followed from its start when it is emptied', async () => {
    await writeFile(path, line('one, and more than comes later'));
    const empty = async (): Promise<void> => {
      await truncate(path);
      await appendFile(path, line('two'));
      await clock.advance(1_000);
    };
    assert.equal(await follow({ 'later\n': empty, 'two\n': stop }), 'one, and more than comes later\ntwo\n');
  });

  test('ends with its container, after the last that this has written', async () => {
    await writeFile(path, line('one'));
    const end = async (): Promise<void> => {
      running = false;
      await appendFile(path, line('two'));
      await clock.advance(1_000);
    };
    assert.equal(await follow({ 'one\n': end }), 'one\ntwo\n');
  });

  test('ends without an error where its container is removed, and its directory with it', async () => {
    const own = join(directory, 'container');
    await mkdir(own);
    path = join(own, 'c-json.log');
    await writeFile(path, line('one'));
    const remove = async (): Promise<void> => {
      running = false;
      await rm(own, { recursive: true });
      await clock.advance(1_000);
    };
    assert.equal(await follow({ 'one\n': remove }), 'one\n');
  });

  test('that is not there cannot be read', async () => {
    await assert.rejects(readLog(path, numberedLogs, ALL, undefined, gone.signal).next(), { code: 'ENOENT' });
  });

  test('has one watcher and one look at its container however many follow it', async () => {
    let looks = 0;
    const watch = Array.from({ length: 100 }, () => watches.open(path, () => Promise.resolve(++looks > 0)));
    await clock.advance(1_000);
    assert.equal(looks, 1);
    for (const each of watch) each.close();
  });
});
