import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exposition } from '../../../src/base/exposition.ts';

describe('the text of metrics', () => {
  test('leaves out families without samples, and escapes', () => {
    const family = { help: 'a\\b\nc', type: 'gauge' } as const;
    const text = exposition([
      { ...family, name: 'b', samples: [{ labels: { x: 'q"\\\n' }, value: 1, atMs: 2.6 }] },
      { ...family, name: 'a', samples: [] },
    ]);
    assert.equal(text, '# HELP b a\\\\b\\nc\n# TYPE b gauge\nb{x="q\\"\\\\\\n"} 1 3\n');
  });
  for (const [value, written] of [
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
  ] as const)
    test(`writes ${written}`, () =>
      assert.equal(exposition([{ name: 'a', help: '', type: 'gauge', samples: [{ labels: {}, value }] }]).split('\n')[2], `a ${written}`));
});
