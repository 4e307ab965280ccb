import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LruMap } from '../../../src/base/lru-map.ts';

test('what was neither read nor written for longest gives way', () => {
  const map = new LruMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.get('a');
  map.set('c', 3);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.size], [1, undefined, 3, 2]);
});

test('writing an entry again replaces it, costs no other and makes it the youngest', () => {
  const map = new LruMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 10);
  map.set('c', 3);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [10, undefined, 3]);
});

test('entries are forgotten by their keys', () => {
  const map = new LruMap<string, number>(4);
  for (const key of ['a1', 'b1', 'a2', 'c']) map.set(key, 1);
  map.delete('c');
  map.deleteWhere((key) => key.startsWith('a'));
  assert.deepEqual([map.get('a1'), map.get('b1'), map.get('a2'), map.get('c'), map.size], [undefined, 1, undefined, undefined, 1]);
});
