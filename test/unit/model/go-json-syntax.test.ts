import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type GoJson, goJsonSyntaxError, parseGoJson } from '../../../src/model/go-json-syntax.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('what JSON.parse takes is taken, and nothing else', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', ',', '}', '[', '1', '-', 'e', '\\', '\n', 'é'))
    .map(([json, at, put]) => {
      const here = at % (json.length + 1);
      return json.slice(0, here) + put + json.slice(here + 1);
    });
  fc.assert(fc.property(fc.oneof(fc.json(), broken), (text) => assert.equal(goJsonSyntaxError(text) === undefined, isJson(text))));
});

/** Without its order and its repeated names. */
function plain(value: GoJson): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null && 'members' in value) {
    return Object.fromEntries(value.members.map(([name, member]) => [name, plain(member)]));
  }
  return value;
}

test('what is read is what JSON.parse reads', () => {
  fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(plain(parseGoJson(text)), JSON.parse(text))));
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.double(), (text, number) => {
      const json = JSON.stringify([text, number, true, [[]], {}]);
      assert.deepEqual(plain(parseGoJson(json)), JSON.parse(json));
    }),
  );
});

test('members keep their order and their names, and half a character becomes U+FFFD', () => {
  const members = [
    ['b', 1],
    ['2', null],
    ['b', '\ufffd'],
    ['__proto__', -0.5],
  ];
  assert.deepEqual(parseGoJson('{"b": 1, "2": null, "b": "\\ud800", "__proto__": -5e-1}'), { members });
});

const words: readonly (readonly [text: string, words: string])[] = [
  ['', 'unexpected end of JSON input'],
  ['[', 'unexpected end of JSON input'],
  ['nope', "invalid character 'o' in literal null (expecting 'u')"],
  ['tru', "invalid character ' ' in literal true (expecting 'e')"],
  ['{a', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1', "invalid character '1' after object key"],
  ['{"a":1 "', `invalid character '"' after object key:value pair`],
  ['[1 2', "invalid character '2' after array element"],
  ['1 2', "invalid character '2' after top-level value"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u00g"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['-a', "invalid character 'a' in numeric literal"],
  ['1.', "invalid character ' ' after decimal point in numeric literal"],
  ['é', "invalid character 'Ã' looking for beginning of value"],
];
for (const [text, expected] of words) test(`${JSON.stringify(text)}: ${expected}`, () => assert.equal(goJsonSyntaxError(text), expected));
