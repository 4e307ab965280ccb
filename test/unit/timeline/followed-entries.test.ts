import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import type { StreamEntry } from '../../../src/model/stream-entry.ts';
import { FollowedEntries } from '../../../src/timeline/followed-entries.ts';

const entry = (seq: number, stream = 'lease'): StreamEntry => ({ seq, atMs: 0, stream, level: 4, message: 'm', fields: {} });

test('a reader that is slower than what happens loses entries by their number, and keeps no more than its bound', async () => {
  const all = new Subject<StreamEntry>();
  const followed = new FollowedEntries(all, ({ stream }) => stream === 'lease', 2);
  for (let seq = 1; seq <= 5; seq++) all.next(entry(seq));
  all.next(entry(6, 'probes'));
  const { signal } = new AbortController();
  assert.deepEqual(await followed.next(signal), { entries: [entry(1), entry(2)], lost: 3 });
  all.next(entry(7));
  assert.deepEqual(await followed.next(signal), { entries: [entry(7)], lost: 0 });
  followed.close();
  assert.equal(all.observed, false);
});
