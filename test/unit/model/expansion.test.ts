import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expand, lookupIn } from '../../../src/model/expansion.ts';

test('text without a dollar, or without a known name, stays as it is', () => {
  const withoutDollar = fc.string().filter((text) => !text.includes('$'));
  fc.assert(
    fc.property(withoutDollar, (text) =>
      assert.equal(
        expand(text, () => 'x'),
        text,
      ),
    ),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('$', '(', ')', 'a', 'é') }), (text) => {
      // Only the escape is taken out, two characters at a time.
      if (!text.includes('$$'))
        assert.equal(
          expand(text, () => undefined),
          text,
        );
    }),
  );
});

test('doubling the dollars protects any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('$', '(', ')', 'a', 'é') }), (text) =>
      assert.equal(
        expand(text.replaceAll('$', '$$$$'), () => 'x'),
        text,
      ),
    ),
  );
});

test('the first map that has the name tells, and values are not expanded again', () => {
  const lookup = lookupIn(
    new Map([['A', '$(B)']]),
    new Map([
      ['A', 'no'],
      ['B', ''],
    ]),
  );
  const table: readonly (readonly [string, string])[] = [
    ['$(A)', '$(B)'],
    ['[$(B)]', '[]'],
    ['$(C) $$(A) $$$(A)', '$(C) $(A) $$(B)'],
    ['5$€ $é', '5$€ $é'],
  ];
  for (const [text, expanded] of table) assert.equal(expand(text, lookup), expanded);
});
