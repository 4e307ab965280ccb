import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeTime } from '../../../src/sources/go-time.ts';
import { locator } from '../../../src/sources/locate.ts';
import { manifestName } from '../../../src/sources/manifest-name.ts';

test('what editors and packagers leave behind is no manifest (kubernetes/kubernetes#136962)', () => {
  const leftovers = 'web.yaml.backup web.yaml.bak web.yaml~ web.yaml.swp web.yaml.orig #web.yaml# web.yaml.rpmsave web.yaml.BAK sedQx7Zr1';
  for (const name of leftovers.split(' ')) assert.equal(manifestName(name), 'leftover', name);
  for (const name of ['web.yaml', 'web', 'web.json', 'backup.yaml', 'sed.yaml', 'sed', 'bak', 'web.yaml.1'])
    assert.equal(manifestName(name), 'manifest', name);
  for (const name of ['.web.yaml', '..data', '.#web.yaml']) assert.equal(manifestName(name), 'hidden', name);
});

test('times are read and printed as Go does', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['2020-01-02T03:04:05Z', '2020-01-02T03:04:05Z'],
    ['2020-01-02T03:04:05.999Z', '2020-01-02T03:04:05Z'],
    ['2020-01-02T03:04:05+02:00', '2020-01-02T01:04:05Z'],
    ['2020-01-02T3:04:05Z', '2020-01-02T03:04:05Z'],
    ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', ''],
    ['2021-02-29T00:00:00Z', undefined],
    ['2020-13-01T00:00:00Z', undefined],
    ['2020-01-02T24:00:00Z', undefined],
    ['2020-01-02 03:04:05Z', undefined],
    ['2020-01-02', undefined],
    ['now', undefined],
    ['9999-12-31T23:59:59-05:00', '10000-01-01T04:59:59Z'],
    ['0000-01-01T00:00:00+01:00', '-0001-12-31T23:00:00Z'],
  ];
  for (const [text, expected] of cases) assert.equal(normalizeTime(text), expected, text);
});

test('offsets become lines and columns', () => {
  const locate = locator('ab\n\ncd');
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6].map((offset) => locate(offset)),
    [
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 1, column: 3 },
      { line: 2, column: 1 },
      { line: 3, column: 1 },
      { line: 3, column: 2 },
      { line: 3, column: 3 },
    ],
  );
});
