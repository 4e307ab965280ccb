import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentSyntaxError, toPlain } from '../../../src/sources/document.ts';
import { parseJson } from '../../../src/sources/parse-json.ts';

test('whatever JSON.stringify writes is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      assert.deepEqual(toPlain(parseJson(text).root), JSON.parse(text));
    }),
  );
});

test('what JSON.parse refuses is refused, with the place', () => {
  const cases: readonly (readonly [text: string, at: number, message: RegExp])[] = [
    ['', 0, /expected a value, found the end/],
    ['{"a":1,}', 7, /expected a key in quotes, found "}"/],
    ['{"a" 1}', 5, /expected ":"/],
    ['{"a":1 "b":2}', 7, /expected "," or "}"/],
    ['[1,]', 3, /expected a value/],
    ['{"a":01}', 6, /expected "," or "}"/],
    ['{a: 1}', 1, /a key in quotes/],
    ['{"a":"x\ny"}', 7, /closing quote/],
    ['{"a":"\\x"}', 6, /valid escape/],
    ['{"a":"x', 7, /closing quote, found the end/],
    ['{} {}', 3, /the end of the text, found "{"/],
  ];
  for (const [text, at, message] of cases) {
    assert.throws(() => JSON.parse(text));
    assert.throws(
      () => parseJson(text),
      (error) => error instanceof DocumentSyntaxError && error.at === at && message.test(error.message),
      text,
    );
  }
});

test('no nesting exhausts the stack', () => {
  assert.throws(() => parseJson('['.repeat(1_000_000)), /nested more than 500 levels deep/);
});

test('a repeated key’s maps and lists are merged, its other values replaced, and it is said', () => {
  const { root, warnings } = parseJson('{"m":{"a":1,"b":{"x":1}},"m":{"b":{"y":2},"c":3},"l":[{"a":1},2],"l":[{"b":3}]}');
  assert.deepEqual(toPlain(root), { m: { a: 1, b: { x: 1, y: 2 }, c: 3 }, l: [{ a: 1, b: 3 }] });
  assert.deepEqual(
    warnings.map(({ at }) => at),
    [25, 65],
  );
});

test('half a surrogate pair is no character', () => {
  assert.deepEqual(toPlain(parseJson('["\\ud800", "a\\udc00b", "\\ud83d\\ude00"]').root), ['\ufffd', 'a\ufffdb', '\u{1f600}']);
});
