import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DocumentSyntaxError, toPlain } from '../../../src/sources/document.ts';
import { parseYaml } from '../../../src/sources/parse-yaml.ts';

const plain = (text: string): unknown => toPlain(parseYaml(text).root);

test('plain scalars mean what they mean to Kubernetes', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['0644', 420],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b101', 5],
    ['-0b101', -5],
    ['1_000', 1000],
    ['089', 89],
    ['+12', 12],
    ['.5', 0.5],
    ['.5_1', 0.51],
    ['._5', '._5'],
    ['5.', 5],
    ['1e3', 1000],
    ['12:30', '12:30'],
    ['190:20:30', '190:20:30'],
    ['1.2.3', '1.2.3'],
    ['2020-01-02', '2020-01-02'],
    ['y', true],
    ['No', false],
    ['oN', 'oN'],
    ['OFF', false],
    ['~', null],
    ['Null', null],
    ['nULL', 'nULL'],
    ['"y"', 'y'],
    ["'~'", '~'],
    ['!!str 5', '5'],
    ['!!int "7"', 7],
    ['!!float 7', 7],
    ['!!binary aGk=', 'hi'],
    ['!mine x', 'x'],
    ['18446744073709551615', 18446744073709552000],
  ];
  for (const [text, value] of cases) assert.deepEqual(plain(`a: ${text}`), { a: value }, text);
});

test('keys become strings', () => {
  assert.deepEqual(plain('1: a\ntrue: b\n1.5: c\n2020-01-02: d\n'), { '1': 'a', true: 'b', '1.5': 'c', '2020-01-02': 'd' });
});

test('a merge overrides the keys before it, and keys override the merge before them', () => {
  assert.deepEqual(plain('a: &a {k: 1, l: 1}\nb:\n  <<: *a\n  l: 2\nc:\n  l: 3\n  <<: *a\n'), {
    a: { k: 1, l: 1 },
    b: { k: 1, l: 2 },
    c: { k: 1, l: 1 },
  });
  assert.deepEqual(plain('a: &a {k: 1}\nb: &b {k: 2, l: 2}\nc: {<<: [*a, *b]}\n'), { a: { k: 1 }, b: { k: 2, l: 2 }, c: { k: 1, l: 2 } });
});

test('the last of repeated keys and the first of several documents count, and it is said', () => {
  const { root, warnings } = parseYaml('a: 1\na: 2\n---\n{not: [even: yaml\n');
  assert.deepEqual(toPlain(root), { a: 2 });
  assert.deepEqual(
    warnings.map(({ detail }) => detail),
    ['only the first document is read: what follows is ignored', 'the key "a" is repeated: the last one counts'],
  );
});

test('a separator behind which nothing stands is not told', () => {
  for (const end of ['---', '---\n', '---\n# nothing\n', '...\n', '---\n---\n'])
    assert.deepEqual(parseYaml(`a: 1\n${end}`).warnings, [], end);
  const [told] = parseYaml('a: 1\n---\n---\nb: 2\n').warnings;
  assert.deepEqual(told, { at: 9, detail: 'only the first document is read: what follows is ignored' });
});

test('what yaml.v2 refuses is refused', () => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ['a: [b', /Flow sequence/],
    ['a:\n\tb: 1\n', /Tabs/],
    ['a: *b\n', /unknown anchor "b"/],
    ['a: &a [*a]\n', /contains itself/],
    ['a: .inf\n', /no meaning in JSON/],
    ['[a]: b\n', /a key must be/],
    ['~: b\n', /a key must be/],
    ['<<: 5\n', /a map merge requires/],
    ['a: !!int x\n', /cannot read "x" as !!int/],
    ['a: "\u0007"\n', /control characters/],
    ['a: "x\\\\\\/y"\n', /Invalid escape sequence \\\//],
    ['a: "x\\uD83D\\uDE00"\n', /Invalid escape sequence \\uD83D/],
    ['%MINE x\n---\na: b\n', /directive/],
    ['# c\n{a: {b: 1}\n', /Flow map/],
    ['['.repeat(100_000), /nested too deeply/],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => parseYaml(text),
      (error) => error instanceof DocumentSyntaxError && message.test(error.message),
      text.slice(0, 40),
    );
  }
});

test('lines end where they do to libyaml, to which a later byte order mark is a character', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['a: 1\rb: 2', { a: 1, b: 2 }],
    ['a: 1\u0085b: 2', { a: 1, b: 2 }],
    ['a: x\r\n  y\r\n', { a: 'x y' }],
    ['a: x\ufeffy\n', { a: 'x\ufeffy' }],
    ['a: 1\n\ufeffb: 2', { a: 1, '\ufeffb': 2 }],
    ['a: "x/\\\\/y"', { a: 'x/\\/y' }],
  ];
  for (const [text, value] of cases) assert.deepEqual(plain(text), value, JSON.stringify(text));
});

test('nobody looks behind the last brace of a document, but it is said', () => {
  for (const rest of [' x', '\n}', '\nb: 2', ', {']) {
    const { root, warnings } = parseYaml(`# c\n{a: 1}${rest}`);
    assert.deepEqual(toPlain(root), { a: 1 });
    assert.match(warnings.map(({ detail }) => detail).join(), /what follows is ignored/, rest);
  }
});

test('a small text cannot unfold into a huge one', () => {
  const ninefold = (name: string): string => `[${Array.from({ length: 9 }, () => `*${name}`).join(',')}]`;
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from('bcdefghi')
    .map((name, i) => `${name}: &${name} ${ninefold('abcdefgh'.charAt(i))}\n`)
    .join('')}`;
  assert.throws(() => parseYaml(bomb), /excessive aliasing/);
});

test('an empty text is null', () => {
  for (const text of ['', '# nothing\n', '---\n']) assert.equal(plain(text), null);
});

test('a tab is white space only where no key could begin', () => {
  const good = ['a:\tb\n', 'a: b\t# c\n', 'a: [b,\n \tc]\n', 'a: b\n \t\nc: d\n', 'a: |\n  b\n  \tc\n', 'a: b\n---\n\t\n', '---\t\na: b\n'];
  for (const text of good) assert.doesNotThrow(() => parseYaml(text), text);
  const bad: readonly (readonly [text: string, at: number])[] = [
    ['a: b\n\t\n', 5],
    ['a: "b"\n  \t\n', 9],
    ['a:\n- b: c\n  \t\n', 12],
    ['a: b # c\n \t# d\n', 10],
    ['-\ta\n', 1],
    ['a: [b]\r\n\t', 8],
    ['\ta: b\n', 0],
  ];
  for (const [text, place] of bad) {
    assert.throws(
      () => parseYaml(text),
      (error) => error instanceof DocumentSyntaxError && error.at === place && /Tabs/.test(error.message),
      text,
    );
  }
});
