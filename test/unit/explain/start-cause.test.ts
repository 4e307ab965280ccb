import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFault } from '../../../src/explain/causes/start-cause.ts';

const MOST_MS = 5_000;

for (const [what, words] of [
  ['digits', '1'.repeat(20_000)],
  ['blanks', `x${' '.repeat(20_000)}x`],
  ['quotes', 'starting container process caused: "": '.repeat(500)],
  ['mounts', 'not a directory: '.repeat(1_000)],
] as const) {
  test(`an error full of ${what} is looked at in bounded time`, () => {
    const began = performance.now();
    startFault(words);
    const tookMs = performance.now() - began;
    assert.ok(tookMs < MOST_MS, `${tookMs} ms`);
  });
}

test('a cause is found at the end of a long error, and a taken port is named', () => {
  assert.equal(startFault(`error mounting ${'/long'.repeat(5_000)}: no space left on device`)?.code, 'disk-full');
  assert.deepEqual(
    ['Bind for 0.0.0.0:8080 failed: port is already allocated', 'listen tcp4 0.0.0.0:8080: bind: address already in use'].map(
      (words) => startFault(words)?.what,
    ),
    Array.from({ length: 2 }, () => 'a host port is taken already (0.0.0.0:8080): the port is in use'),
  );
});
