import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import type { StreamEntry } from '../../../src/model/stream-entry.ts';
import { MOST_LINE_BYTES } from '../../../src/timeline/entry-line.ts';
import { readRing } from '../../../src/timeline/read-ring.ts';
import { lastSeq } from '../../../src/timeline/ring-segments.ts';
import { timelineQuery } from '../../../src/timeline/timeline-query.ts';
import { TimelineRing } from '../../../src/timeline/timeline-ring.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const MIB = 1024 ** 2;
const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});
const aDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-timeline-'));
  directories.push(directory);
  return directory;
};

interface RingUnderTest {
  readonly ring: TimelineRing;
  readonly clock: FakeClock;
  readonly log: RecordingLogger;
}
function aRing(directory: string, maxBytes = MIB): RingUnderTest {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  return { ring: new TimelineRing({ directory, maxBytes, clock, log }), clock, log };
}

const anEntry = (seq: number, over: Partial<StreamEntry> = {}): StreamEntry => ({
  seq,
  atMs: 1_000 * seq,
  stream: 'reconcile',
  level: 4,
  message: 'reconciled',
  fields: {},
  ...over,
});
async function kept(directory: string, query = ''): Promise<readonly StreamEntry[]> {
  const lines: string[] = [];
  const wanted = timelineQuery(new URLSearchParams(query), 0);
  for await (const some of readRing(directory, wanted, Number.POSITIVE_INFINITY)) lines.push(...some);
  return lines.map((line) => JSON.parse(line));
}
const seqs = async (directory: string, query = ''): Promise<readonly number[]> => (await kept(directory, query)).map(({ seq }) => seq);
const bytesIn = (directory: string): number => readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

test('entries are written together within a second, for the owner alone, and are there after a restart', async () => {
  const directory = join(aDirectory(), 'timeline');
  const { ring, clock } = aRing(directory);
  ring.add(anEntry(1));
  ring.add(anEntry(2));
  await clock.advance(999);
  assert.deepEqual(await seqs(directory), []);
  await clock.advance(1);
  await ring.flush();
  assert.deepEqual(await seqs(directory), [1, 2]);
  assert.equal(clock.actions.length, 0);
  const [name = ''] = readdirSync(directory);
  assert.deepEqual([statSync(join(directory, name)).mode & 0o777, statSync(directory).mode & 0o777], [0o600, 0o700]);
  // The first agent is killed: it closes nothing.
  assert.equal(lastSeq(directory), 2);
  const next = aRing(directory);
  next.ring.add(anEntry(3));
  await next.ring.close();
  assert.deepEqual(await seqs(directory), [1, 2, 3]);
  assert.deepEqual([readdirSync(directory).length, next.log.lines], [1, []]);
  await ring.close();
});

test('much is written at once', async () => {
  const directory = aDirectory();
  const { ring, clock } = aRing(directory);
  for (let seq = 1; seq <= 300; seq++) ring.add(anEntry(seq));
  await ring.flush();
  assert.equal((await seqs(directory)).length, 300);
  await ring.close();
  assert.equal(clock.actions.length, 0);
});

test('the ring stays under its cap, and what it loses is the oldest', async () => {
  const directory = aDirectory();
  const { ring } = aRing(directory);
  let most = 0;
  for (let seq = 1; seq <= 20_000; seq++) {
    ring.add(anEntry(seq, { fields: { text: 'x'.repeat(seq % 500) } }));
    if (seq % 1_000 !== 0) continue;
    await ring.flush();
    most = Math.max(most, bytesIn(directory));
  }
  assert.ok(most <= MIB, `${most} bytes`);
  const left = await seqs(directory);
  assert.ok(left.length > 1_500, `${left.length} entries`);
  assert.deepEqual([left[0], left.at(-1)], [20_001 - left.length, 20_000]);
  await ring.close();
});

test('a damaged end is cut off and reported; what is damaged before it is passed over', async () => {
  for (const [what, damage] of [
    ['half a line', '{"seq":3,"atMs":3000,"stream":"reconc'],
    ['zeros', '\0'.repeat(5_000)],
    ['lines that are none', 'x\n{}\n\n'],
    ['a long line', `{"seq":3,${'x'.repeat(100_000)}`],
  ] as const) {
    const directory = aDirectory();
    const first = aRing(directory);
    for (const seq of [1, 2]) first.ring.add(anEntry(seq));
    await first.ring.close();
    const path = join(directory, readdirSync(directory)[0] ?? '');
    appendFileSync(path, damage);
    assert.deepEqual([lastSeq(directory), await seqs(directory)], [2, [1, 2]], what);
    const { ring, log } = aRing(directory);
    ring.add(anEntry(3));
    await ring.close();
    assert.deepEqual(await seqs(directory), [1, 2, 3], what);
    assert.deepEqual(
      log.lines.map(({ message, fields }) => [message, fields['file'], fields['bytes']]),
      [['damaged end of the timeline cut off', path, damage.length]],
      what,
    );
  }
});

test('a segment with nothing whole in it is removed, and the one before it goes on', async () => {
  const directory = aDirectory();
  const first = aRing(directory);
  first.ring.add(anEntry(1));
  await first.ring.close();
  writeFileSync(join(directory, `${'9'.padStart(16, '0')}.ndjson`), 'nothing');
  assert.equal(lastSeq(directory), 1);
  const { ring } = aRing(directory);
  ring.add(anEntry(2));
  await ring.close();
  assert.deepEqual([await seqs(directory), readdirSync(directory).length], [[1, 2], 1]);
});

test('what cannot be written is lost by its number, reported once, and again when it is over', async () => {
  const parent = aDirectory();
  const directory = join(parent, 'timeline');
  writeFileSync(directory, 'in the way');
  const { ring, log } = aRing(directory);
  for (const seq of [1, 2]) {
    ring.add(anEntry(seq));
    await ring.flush();
  }
  rmSync(directory);
  ring.add(anEntry(3));
  await ring.flush();
  assert.deepEqual(await seqs(directory), [3]);
  assert.deepEqual(
    log.lines.map(({ level, message, fields }) => [level, message, fields['lost']]),
    [
      ['warn', 'timeline not written: what happens is not kept until it is', undefined],
      ['info', 'timeline written again', 2],
    ],
  );
  await ring.close();
});

test('waiting for a slow disk costs a bounded number of entries', async () => {
  const directory = aDirectory();
  const { ring, log } = aRing(directory, 16 * MIB);
  // All within one turn: none of it can be written meanwhile.
  for (let seq = 1; seq <= 12_000; seq++) ring.add(anEntry(seq));
  await ring.close();
  const { length } = await seqs(directory);
  assert.ok(length >= 5_000 && length < 6_000, `${length} entries`);
  assert.deepEqual(
    log.lines.map(({ message, fields }) => [message, fields['lost']]),
    [['timeline entries lost: the disk was too slow', 12_000 - length]],
  );
});

test('a link in place of a segment is not followed', async () => {
  const directory = aDirectory();
  const target = join(aDirectory(), 'target');
  writeFileSync(target, 'precious');
  symlinkSync(target, join(directory, `${'1'.padStart(16, '0')}.ndjson`));
  const { ring, log } = aRing(directory);
  ring.add(anEntry(1));
  await ring.close();
  assert.equal(readFileSync(target, 'utf8'), 'precious');
  assert.equal(log.lines.length, 1);
});

test('hostile text is plain JSON, a line an entry; what is too long is cut', async () => {
  const directory = aDirectory();
  const { ring } = aRing(directory);
  const text = '\u001B[2J\n</script>\u0000\u2028\uD800"}';
  ring.add(anEntry(1, { pod: text, fields: { text } }));
  ring.add(anEntry(2, { message: 'long', fields: { text: '\u20AC'.repeat(MOST_LINE_BYTES) } }));
  await ring.close();
  const [first, second] = await kept(directory);
  assert.deepEqual([first?.pod, first?.fields['text']], [text, text]);
  assert.deepEqual([second?.message, Object.keys(second?.fields ?? {})], ['long', ['leftOutCharacters']]);
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(readFileSync(join(directory, readdirSync(directory)[0] ?? ''), 'latin1'), /[\0-\t\v-\x1f]/);
});

test('a pod, a stream, times and a number limit what is read', async () => {
  const directory = aDirectory();
  const { ring } = aRing(directory);
  for (let seq = 1; seq <= 500; seq++)
    ring.add(anEntry(seq, { pod: `default/web-${seq % 5}`, stream: seq % 2 ? 'lease' : 'probes', fields: { other: 'default/web-0' } }));
  await ring.close();
  assert.equal((await seqs(directory, 'pod=default/web-0')).length, 100);
  assert.equal((await seqs(directory, 'pod=default/web-0&stream=lease')).length, 50);
  assert.deepEqual(await seqs(directory, 'limit=3'), [498, 499, 500]);
  assert.deepEqual(await seqs(directory, 'limit=0'), []);
  assert.deepEqual(await seqs(directory, 'limit=2&pod=default/web-1'), [491, 496]);
  assert.deepEqual(await seqs(directory, `until=${new Date(2_000).toISOString()}`), [1, 2]);
  assert.deepEqual(await seqs(directory, `since=${new Date(499_000).toISOString()}`), [499, 500]);
});

test('what happened while the clock was ahead is read also after it was set back', async () => {
  const directory = aDirectory();
  const { ring } = aRing(directory);
  ring.add(anEntry(1, { atMs: 9_000_000 }));
  await ring.close();
  // By the clock as it is now.
  const [segment = ''] = readdirSync(directory);
  utimesSync(join(directory, segment), 1_000, 1_000);
  assert.deepEqual(await seqs(directory, `since=${new Date(8_000_000).toISOString()}`), [1]);
});

test('a file that was cut short is no fault of its reader', async () => {
  const directory = aDirectory();
  const { ring } = aRing(directory);
  for (let seq = 1; seq <= 3; seq++) ring.add(anEntry(seq));
  await ring.close();
  const path = join(directory, readdirSync(directory)[0] ?? '');
  truncateSync(path, statSync(path).size - 10);
  assert.deepEqual(await seqs(directory), [1, 2]);
});

for (const what of ['directory', 'fifo'] as const) {
  test(`a ${what} in place of a segment is left alone: what happens is written and read beside it`, async () => {
    const directory = aDirectory();
    const before = aRing(directory);
    before.ring.add(anEntry(1));
    await before.ring.close();
    const path = join(directory, `${'5'.padStart(16, '0')}.ndjson`);
    if (what === 'directory') mkdirSync(path);
    else execFileSync('mkfifo', [path]);
    assert.equal(lastSeq(directory), 1);
    const { ring, log } = aRing(directory);
    ring.add(anEntry(2));
    await ring.close();
    assert.deepEqual(await seqs(directory), [1, 2]);
    assert.deepEqual(log.lines, []);
  });
}
