import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../../page/agent/backoff.ts';
import { bytes, duration, shown, wholeDuration } from '../../../page/format.ts';
import { kept } from '../../../page/kept.ts';
import { pathOf, podLink, routeOf } from '../../../page/route.ts';
import { countsOf, sortedPods } from '../../../page/sort-pods.ts';
import { Store } from '../../../page/store.ts';
import { visibleRows } from '../../../page/visible-rows.ts';
import type { ExplainedInShort, ExplainedState } from '../../../src/model/explanation.ts';

const pod = (name: string, state: ExplainedState, text?: string): ExplainedInShort => ({
  pod: `default/${name}`,
  uid: name,
  state,
  restarts: 0,
  ...(text === undefined ? {} : { cause: { code: 'c', kind: 'fault', text } }),
});

test('the worst pods come first, and a filter takes those that have all of its words', () => {
  const pods = [pod('b', 'well'), pod('a', 'well'), pod('z', 'sick', 'Image not found'), pod('y', 'waiting', 'pulling image')];
  const names = (text: string, states: readonly ExplainedState[] = []): readonly string[] =>
    sortedPods(pods, { text, states: new Set(states) }).map(({ uid = '' }) => uid);
  assert.deepEqual(names(''), ['z', 'y', 'a', 'b']);
  assert.deepEqual(names('IMAGE'), ['z', 'y']);
  assert.deepEqual(names('image found'), ['z']);
  assert.deepEqual(names('', ['well']), ['a', 'b']);
  assert.deepEqual(countsOf(pods), [
    ['sick', 1],
    ['waiting', 1],
    ['well', 2],
  ]);
});

test('of a long list only the rows that are seen are drawn, and a few beyond', () => {
  assert.deepEqual(visibleRows({ count: 200, rowPx: 50, topPx: 100, seenPx: 600 }), { first: 0, end: 14 });
  assert.deepEqual(visibleRows({ count: 200, rowPx: 50, topPx: -5_000, seenPx: 600 }), { first: 96, end: 116 });
  assert.deepEqual(visibleRows({ count: 3, rowPx: 50, topPx: -5_000, seenPx: 600 }), { first: 3, end: 3 });
  assert.deepEqual(visibleRows({ count: 0, rowPx: 50, topPx: 0, seenPx: 600 }), { first: 0, end: 0 });
});

test('a try that fails is followed by a longer wait, up to half a minute', () => {
  assert.deepEqual(
    [1, 2, 3, 5, 6, 60].map((failures) => backoffMs(failures, 1)),
    [1_000, 2_000, 4_000, 16_000, 30_000, 30_000],
  );
  assert.equal(backoffMs(1, 0), 750);
});

test('what says the same stays the same object, so that it is not drawn again', () => {
  const before = [
    { id: 'a', n: 1 },
    { id: 'b', n: 1 },
  ];
  const key = ({ id }: { readonly id: string }): string => id;
  const after = kept(
    before,
    [
      { id: 'a', n: 1 },
      { id: 'b', n: 2 },
    ],
    key,
  );
  assert.equal(after[0], before[0]);
  assert.notEqual(after[1], before[1]);
  assert.equal(kept(before, structuredClone(before), key), before);
  assert.deepEqual(kept(before, [{ id: 'b', n: 1 }], key), [{ id: 'b', n: 1 }]);
});

test('however many changes there are, a frame draws once', () => {
  const frames: (() => void)[] = [];
  const drawn: number[] = [];
  const store = new Store(
    { n: 0 },
    ({ n }) => drawn.push(n),
    (frame) => frames.push(frame),
  );
  store.set({ n: 1 });
  store.set({ n: 2 });
  assert.deepEqual([drawn, frames.length], [[], 1]);
  frames.shift()?.();
  assert.deepEqual(drawn, [2]);
  store.set({ n: 3 });
  assert.equal(frames.length, 1);
});

test('a place in the page is its link, whatever a pod is called', () => {
  for (const name of ['default/web', 'default/<b>', 'a%b/c d']) assert.deepEqual(routeOf(podLink(name)), { view: 'pod', pod: name });
  assert.equal(pathOf('a/b?c#d'), 'a/b%3Fc%23d');
  assert.deepEqual(
    ['', '#nothing', '#pod', '#pod/%zz/x', '#node'].map((hash) => routeOf(hash).view),
    ['pods', 'pods', 'pods', 'pods', 'node'],
  );
});

test('times and sizes are as exact as is of use', () => {
  assert.deepEqual([12, 950, 1_500, 59_000, 150_000, 7_500_000, 9e7, 2e8].map(duration), [
    '12 ms',
    '0.9 s',
    '1.5 s',
    '59 s',
    '2 min',
    '2 h 5 min',
    '25 h',
    '2 d 7 h',
  ]);
  assert.deepEqual([-5, 999, 61_000].map(wholeDuration), ['0 s', '0 s', '61 s']);
  assert.deepEqual([0, 1_023, 1_536, 2 ** 30, 150 * 2 ** 20].map(bytes), ['0 B', '1023 B', '1.5 KiB', '1 GiB', '150 MiB']);
});

test('text of others steers nothing, and its lines stay lines', () => {
  assert.equal(shown('a\u001B[31mb\u202Ec\nd\u0007'), 'a?[31mb?c\nd?');
});
