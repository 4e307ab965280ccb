import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLogPolicy } from '../../../src/model/log-policy.ts';

test('a size is a quantity of whole bytes, as it is written', () => {
  for (const [text, bytes] of [
    ['10Mi', 10_485_760],
    ['1.5k', 1500],
    ['0', 0],
    ['1e3', 1000],
  ] as const)
    assert.deepEqual(parseLogPolicy(text, 2), { maxSizeBytes: bytes, maxFiles: 2 });
  for (const text of ['1.0', '1000m', '5.5Ki', '1.5']) assert.throws(() => parseLogPolicy(text, 2), /: invalid max log size$/);
  assert.throws(() => parseLogPolicy('ten', 2), /^Error: failed to parse container log max size "ten": quantities must match/);
});

test('a negative size asks for no rotation, and fewer than two files are none', () => {
  assert.equal(parseLogPolicy('-1', 2), undefined);
  assert.throws(() => parseLogPolicy('1Mi', 1), /^RangeError: invalid MaxFiles 1, must be > 1$/);
});
