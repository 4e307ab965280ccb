import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Quantity, QuantityParseError } from '../../../src/model/quantity.ts';

const suffix = fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-3', 'E6', 'n', 'u');
const text = fc
  .tuple(fc.constantFrom('', '-', '+'), fc.nat(10_000_000), fc.option(fc.nat(99_999)), suffix)
  .map(([sign, whole, fraction, unit]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${unit}`);
const quantity = text.map((t) => Quantity.parse(t));

test('what is printed is read back as the same amount', () => {
  fc.assert(
    fc.property(quantity, (q) => {
      const again = Quantity.parse(q.canonical());
      assert.equal(again.cmp(q), 0);
      assert.equal(Quantity.parse(again.canonical()).canonical(), again.canonical());
    }),
  );
});

test('subtracting undoes adding', () => {
  fc.assert(
    fc.property(quantity, quantity, (a, b) => {
      assert.equal(a.add(b).sub(b).cmp(a), 0);
      assert.equal(a.add(b).cmp(b.add(a)), 0);
      assert.equal(a.sub(b).sign(), a.cmp(b));
    }),
  );
});

test('an integer is its own value', () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 16n), 10n ** 16n), (n) => {
      const q = Quantity.parse(String(n));
      assert.equal(q.value(), n);
      assert.equal(q.milliValue(), n * 1000n);
    }),
  );
});

test('amounts are rounded up, away from zero', () => {
  const table: readonly (readonly [string, bigint, bigint])[] = [
    ['1.5', 2n, 1500n],
    ['100u', 1n, 1n],
    ['-5m', -1n, -5n],
    ['0.5Gi', 536870912n, 536870912000n],
  ];
  for (const [written, value, milli] of table) {
    const q = Quantity.parse(written);
    assert.deepEqual([q.value(), q.milliValue()], [value, milli], written);
  }
});

test('a decoded number is read as it prints', () => {
  const table: readonly (readonly [unknown, string])[] = [
    [0.5, '500m'],
    [1000, '1k'],
    [9007199254740993n, '9007199254740993'],
    [1e21, '1e+21'],
    [' 2Gi\n', '2Gi'],
    [null, '0'],
  ];
  for (const [value, canonical] of table) assert.equal(Quantity.fromJson(value).canonical(), canonical);
});

test('what is no quantity is refused with the rule it breaks', () => {
  const table: readonly (readonly [unknown, RegExp])[] = [
    ['', /must match the regular expression/],
    ['1GB', /must match the regular expression/],
    [true, /must match the regular expression/],
    [{}, /must match the regular expression/],
    ['1K', /suffix/],
    ['1e99999999999999999999', /suffix/],
    ['Ei', /numeric part/],
  ];
  for (const [value, message] of table) {
    assert.throws(
      () => Quantity.fromJson(value),
      (e) => e instanceof QuantityParseError && message.test(e.message),
    );
  }
});

test('an amount is whole as Kubernetes counts its thousandths, in 64 bits', () => {
  const whole = ['0', '1', '1000m', '2k', '1Gi', '-3', '1E', '1e30', '10P', '9223372036854775', '9223372036854775807'];
  const broken = ['1500m', '1n', '0.5', '-1m', '9223372036854776', '1Ei', '99999999999999999999'];
  for (const text of whole) assert.equal(Quantity.parse(text).isWhole(), true, text);
  for (const text of broken) assert.equal(Quantity.parse(text).isWhole(), false, text);
});

test('an absurd exponent costs nothing', () => {
  const huge = Quantity.parse('1e2000000000');
  const tiny = Quantity.parse('1e-2000000000');
  assert.equal(tiny.canonical(), '1e-9');
  for (const e of [1989, 1998, 2001]) assert.equal(Quantity.parse(`1234567890123456789e${e}`).canonical(), `1234567890123456789e${e}`);
  assert.equal(huge.cmp(tiny), 1);
  assert.equal(huge.add(tiny).cmp(huge), 0);
  assert.equal(Quantity.parse('0e999999').add(Quantity.parse('-1.1n')).canonical(), '-2n');
  assert.ok(huge.value() > 2n ** 64n);
  assert.equal(huge.sub(huge).isZero(), true);
});

test('a quantity serialises as it prints', () => {
  assert.equal(
    JSON.stringify({ memory: Quantity.of(1536n * 1024n, 'BinarySI'), cpu: Quantity.ofMilli(1500) }),
    '{"memory":"1536Ki","cpu":"1500m"}',
  );
});
