import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { silentLogger } from '../../../src/base/logger.ts';
import type { StreamEntry } from '../../../src/model/stream-entry.ts';
import { readRing } from '../../../src/timeline/read-ring.ts';
import { lastSeq } from '../../../src/timeline/ring-segments.ts';
import { TimelineRing } from '../../../src/timeline/timeline-ring.ts';
import { timelineQuery } from '../../../src/timeline/timeline-query.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const MAX_BYTES = 16 * 1024;

const anEntry = (seq: number): StreamEntry => ({
  seq,
  atMs: 1_700_000_000_000 + seq,
  stream: 'reconcile',
  level: 4,
  message: 'reconciled',
  fields: { of: 'x'.repeat(seq % 90) },
});

/** Something happens to the file at this place, which is a share of the ring's length. */
type Damage =
  | { readonly do: 'flip'; readonly at: number; readonly bit: number }
  | { readonly do: 'cut'; readonly at: number }
  | { readonly do: 'overwrite'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly do: 'append'; readonly at: number; readonly text: string }
  | { readonly do: 'remove'; readonly at: number };

const at = fc.double({ min: 0, max: 1, noNaN: true });
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ do: fc.constant('flip' as const), at, bit: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ do: fc.constant('cut' as const), at }),
  fc.record({ do: fc.constant('overwrite' as const), at, bytes: fc.uint8Array({ minLength: 1, maxLength: 64 }) }),
  fc.record({
    do: fc.constant('append' as const),
    at,
    text: fc.constantFrom(
      '\n',
      '{"seq":999999999999999,"atMs":1,"stream":"a","level":4,"message":"m","fields":{}}\n',
      '{"seq":3,"atMs":1,"stream":"a","level":4,"message":"m","fields":{}}\n',
      '{"seq":5,"atMs":1,}\n',
      '{"seq":5,"atMs":1,"x":1}',
      '\0'.repeat(5_000),
    ),
  }),
  fc.record({ do: fc.constant('remove' as const), at }),
);

function inflict(directory: string, what: Damage): void {
  const names = readdirSync(directory).toSorted();
  const sizes = names.map((name) => statSync(join(directory, name)).size);
  let place = Math.floor(what.at * sizes.reduce((sum, size) => sum + size, 0));
  const index = Math.max(
    0,
    sizes.findIndex((size, i) => (place < size ? true : i < sizes.length - 1 && ((place -= size), false))),
  );
  const path = join(directory, names.at(index) ?? '');
  if (names.length === 0) return;
  const bytes = readFileSync(path);
  place = Math.max(0, Math.min(place, bytes.length - 1));
  switch (what.do) {
    case 'flip':
      if (bytes.length > 0) bytes[place] = (bytes[place] ?? 0) ^ (1 << what.bit);
      writeFileSync(path, bytes);
      return;
    case 'cut':
      writeFileSync(path, bytes.subarray(0, place));
      return;
    case 'overwrite':
      bytes.set(what.bytes.subarray(0, Math.max(0, bytes.length - place)), place);
      writeFileSync(path, bytes);
      return;
    case 'append':
      appendFileSync(path, what.text);
      return;
    case 'remove':
      rmSync(path);
      return;
    default:
      what satisfies never;
  }
}

/** An agent's part in it: it goes on with the next number, and keeps so many entries. */
async function keepMore(directory: string, count: number): Promise<readonly number[]> {
  const before = lastSeq(directory);
  const ring = new TimelineRing({ directory, maxBytes: MAX_BYTES, clock: new FakeClock(), log: silentLogger });
  const added = Array.from({ length: count }, (_, i) => before + 1 + i);
  for (const seq of added) {
    ring.add(anEntry(seq));
    if (seq % 7 === 0) await ring.flush();
  }
  await ring.close();
  return added;
}

async function seqsIn(directory: string): Promise<readonly number[]> {
  const seqs: number[] = [];
  for await (const lines of readRing(directory, timelineQuery(new URLSearchParams(), 0), Number.POSITIVE_INFINITY))
    for (const line of lines) seqs.push((JSON.parse(line) as StreamEntry).seq);
  return seqs;
}

test('whatever happens to what is on the disk: what comes after is kept and read, in its order, under the cap, by each agent after', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 6 }), async (damages) => {
      const directory = mkdtempSync(join(tmpdir(), 'rxlet-damaged-'));
      try {
        await keepMore(directory, 150);
        for (const each of damages) {
          inflict(directory, each);
          const added = await keepMore(directory, 12);
          const seqs = await seqsIn(directory);
          assert.deepEqual(seqs.slice(-added.length), added);
          assert.ok(added.every(Number.isSafeInteger) && (added.at(-1) ?? 0) < 1e15, 'numbers run out');
          const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
          assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
        }
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
});

test('an agent that is killed at any byte of an append loses that append and no more: two hundred times', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rxlet-killed-'));
  try {
    await keepMore(directory, 30);
    for (let kill = 1; kill <= 200; kill++) {
      const before = await seqsIn(directory);
      const [name = ''] = readdirSync(directory).toSorted().slice(-1);
      const whole = readFileSync(join(directory, name));
      const [seq = 0] = before.slice(-1);
      // As much of the next entry's line as was written by then.
      const line = `${JSON.stringify(anEntry(seq + 1))}\n`;
      writeFileSync(join(directory, name), Buffer.concat([whole, Buffer.from(line).subarray(0, kill % line.length)]));
      const added = await keepMore(directory, 1);
      const after = await seqsIn(directory);
      assert.deepEqual(added, [seq + 1]);
      // The oldest may have gone to stay under the cap.
      assert.deepEqual(after, [...before, seq + 1].slice(-after.length));
      assert.ok(after.length > 30 || after.length === before.length + 1, `${after.length} after ${before.length}`);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
