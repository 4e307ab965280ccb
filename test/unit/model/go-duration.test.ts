import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatGoDuration, GoDurationError, parseGoDuration } from '../../../src/model/go-duration.ts';

test('every duration survives being printed and read', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), (ns) => {
      // Seconds are read in floating point, but nine digits fit.
      assert.equal(parseGoDuration(formatGoDuration(ns)), ns);
    }),
  );
});

test('durations are printed in the largest units that fit', () => {
  const table: readonly (readonly [string, string])[] = [
    ['0', '0s'],
    ['90m', '1h30m0s'],
    ['-1.5us', '-1.5µs'],
    ['1m0.5s', '1m0.5s'],
    ['1000ms', '1s'],
  ];
  for (const [written, printed] of table) assert.equal(formatGoDuration(parseGoDuration(written)), printed);
});

test('a number without a unit is refused, and a unit that no one knows', () => {
  const table: readonly (readonly [string, string])[] = [
    ['10', 'time: missing unit in duration "10"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['', 'time: invalid duration ""'],
    ['a"\\é\n', 'time: invalid duration "a\\"\\\\\\xc3\\xa9\\x0a"'],
  ];
  for (const [text, message] of table) {
    assert.throws(
      () => parseGoDuration(text),
      (e) => e instanceof GoDurationError && e.message === message,
    );
  }
});
