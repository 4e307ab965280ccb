import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { coalesceMap } from '../../../src/base/coalesce-map.ts';

const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

test('the first value runs at once; those that come meanwhile run together', async () => {
  const source = new Subject<number>();
  const runs: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const results: number[] = [];
  source
    .pipe(
      coalesceMap(async (values) => {
        runs.push(values);
        await new Promise<void>((end) => ends.push(end));
        return values.length;
      }),
    )
    .subscribe((n) => results.push(n));
  source.next(1);
  source.next(2);
  source.next(3);
  assert.deepEqual(runs, [[1]]);
  ends[0]?.();
  await settle();
  assert.deepEqual(runs, [[1], [2, 3]]);
  ends[1]?.();
  await settle();
  assert.deepEqual(results, [1, 2]);
});

test('it completes after the last run', async () => {
  const source = new Subject<number>();
  const seen: string[] = [];
  source.pipe(coalesceMap(async () => 'ran')).subscribe({ next: (v) => seen.push(v), complete: () => seen.push('done') });
  source.next(1);
  source.complete();
  await settle();
  assert.deepEqual(seen, ['ran', 'done']);
});

test('a rejection is the stream’s error', async () => {
  const source = new Subject<number>();
  const failed = new Promise((resolve) => source.pipe(coalesceMap(() => Promise.reject(new Error('no')))).subscribe({ error: resolve }));
  source.next(1);
  assert.equal(String(await failed), 'Error: no');
});

test('nothing runs after the end of the subscription', async () => {
  const source = new Subject<number>();
  let runs = 0;
  const subscription = source.pipe(coalesceMap(async () => runs++)).subscribe();
  source.next(1);
  source.next(2);
  subscription.unsubscribe();
  await settle();
  assert.equal(runs, 1);
  assert.equal(source.observed, false);
});
