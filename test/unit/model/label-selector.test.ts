import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LabelSelectorError } from '../../../src/model/label-requirement.ts';
import { LabelSelector } from '../../../src/model/label-selector.ts';

const key = fc.constantFrom('app', 'tier', 'in', 'x.io/y', 'num');
const value = fc.constantFrom('', 'web', 'notin', '5', '0');
const requirement = fc.oneof(
  key,
  key.map((k) => `!${k}`),
  fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join(' ')),
  fc
    .tuple(key, fc.constantFrom('in', 'notin'), fc.uniqueArray(value, { minLength: 1, maxLength: 3 }))
    .map(([k, op, vs]) => `${k} ${op} (${vs.join(', ')})`),
  fc.tuple(key, fc.constantFrom('<', '>'), fc.nat(9)).map((parts) => parts.join('')),
);
const selector = fc.array(requirement, { maxLength: 4 }).map((parts) => parts.join(','));
const labels = fc.dictionary(key, value);

test('what a selector prints means the same', () => {
  fc.assert(
    fc.property(selector, labels, (text, some) => {
      const parsed = LabelSelector.parse(text);
      const again = LabelSelector.parse(parsed.toString());
      assert.equal(again.toString(), parsed.toString());
      assert.equal(again.matches(some), parsed.matches(some));
    }),
  );
});

test('a requirement and its opposite never agree', () => {
  fc.assert(
    fc.property(key, fc.uniqueArray(value, { minLength: 1 }), labels, (k, values, some) => {
      const list = values.join(',');
      assert.notEqual(LabelSelector.parse(`${k} in (${list})`).matches(some), LabelSelector.parse(`${k} notin (${list})`).matches(some));
      assert.notEqual(LabelSelector.parse(k).matches(some), LabelSelector.parse(`!${k}`).matches(some));
    }),
  );
});

test('no object selects nothing, an empty one everything', () => {
  assert.equal(LabelSelector.fromObject(undefined).matches({ a: 'b' }), false);
  assert.equal(LabelSelector.fromObject({ matchLabels: {} }).matches({}), true);
});

test('inherited properties are no labels', () => {
  assert.equal(LabelSelector.parse('constructor').matches({}), false);
});

test('a wrong selector is refused with the place where it is wrong', () => {
  const table: readonly (readonly [string, string])[] = [
    ['a in (,,)', "unable to parse requirement: found ')', expected: ',', or identifier"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
  ];
  for (const [text, message] of table) {
    assert.throws(
      () => LabelSelector.parse(text),
      (e) => e instanceof LabelSelectorError && e.message === message,
      text,
    );
  }
});
