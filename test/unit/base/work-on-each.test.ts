import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subject } from 'rxjs';
import { workOnEach } from '../../../src/base/work-on-each.ts';

test('each that is listed is worked on side by side, one work a key, until the signal aborts and all work has ended', async () => {
  const listed = new Set(['a', 'b']);
  const news = new Subject<void>();
  const stop = new AbortController();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  const work = (key: string): Promise<void> => {
    begun.push(key);
    return new Promise((end) => void ends.set(key, end));
  };
  let isOver = false;
  const running = workOnEach(() => listed, news, work, stop.signal).then(() => (isOver = true));
  assert.deepEqual(begun, ['a', 'b']);
  listed.add('c');
  news.next();
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c']);
  ends.get('a')?.();
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c'], 'it looks again with news alone');
  news.next();
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c', 'a']);
  stop.abort();
  await turn();
  assert.equal(isOver, false);
  for (const end of ends.values()) end();
  await running;
});
