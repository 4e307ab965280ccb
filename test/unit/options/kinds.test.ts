import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as kinds from '../../../src/options/kinds.ts';
import { taints } from '../../../src/options/taints.ts';
import { ExpectedError, type Kind } from '../../../src/options/option.ts';

describe('a kind parses and shows', () => {
  for (const [name, kind, text, value, shown] of [
    ['bool', kinds.bool, 'TRUE', true, 'true'],
    ['int32', kinds.int32, '-0', 0, '0'],
    ['int32', kinds.int32, '0o17', 15, '15'],
    ['uint', kinds.uint, '7', 7, '7'],
    ['float', kinds.float, '.5e1', 5, '5'],
    ['duration', kinds.duration, '1h1.5s', 3_601_500, '1h0m1.5s'],
    ['ip', kinds.ip, ' ::1 ', '::1', '::1'],
    ['strings', kinds.strings, '', [], ''],
    ['strings', kinds.strings, 'a,,"b,""c"""', ['a', '', 'b,"c"'], 'a,,"b,""c"""'],
    ['strings', kinds.strings, ',a,', ['', 'a', ''], ',a,'],
    ['map', kinds.mapStringString, 'b=c=d, a = e ,', { b: 'c=d', a: 'e' }, 'a=e,b=c=d'],
    ['bool map', kinds.mapStringBool, 'A=true,B=f', { A: true, B: false }, 'A=true,B=false'],
    ['thresholds', kinds.langleSeparatedMap, 'memory.available<1Gi', { 'memory.available': '1Gi' }, 'memory.available<1Gi'],
    ['taints', taints, '', [], ''],
    ['taints', taints, 'a/b=c:NoExecute', [{ key: 'a/b', value: 'c', effect: 'NoExecute' }], 'a/b=c:NoExecute'],
    [
      'taints',
      taints,
      'a:NoSchedule,b=:PreferNoSchedule',
      [
        { key: 'a', value: '', effect: 'NoSchedule' },
        { key: 'b', value: '', effect: 'PreferNoSchedule' },
      ],
      'a:NoSchedule,b:PreferNoSchedule',
    ],
    ['headers', kinds.colonSeparatedMultimap, 'b:1,a:2,b:3', { b: ['1', '3'], a: ['2'] }, 'a:2,b:1,b:3'],
  ] as readonly (readonly [string, Kind<unknown>, string, unknown, string])[]) {
    test(`${name} "${text}"`, () => {
      assert.deepEqual(kind.parse(text), value);
      assert.equal(kind.show(kind.parse(text)), shown);
    });
  }
});

describe('a kind refuses', () => {
  for (const [name, kind, text] of [
    ['bool', kinds.bool, 'yes'],
    ['bool', kinds.bool, 'constructor'],
    ['int32', kinds.int32, ''],
    ['int32', kinds.int32, '1__0'],
    ['int32', kinds.int32, '08'],
    ['int32', kinds.int32, '--1'],
    ['uint', kinds.uint, '-1'],
    ['float', kinds.float, '.'],
    ['duration', kinds.duration, '1'],
    ['ip', kinds.ip, '1.2.3'],
    ['strings', kinds.strings, 'a,"b'],
    ['strings', kinds.strings, 'a"b'],
    ['map', kinds.mapStringString, 'a'],
    ['bool map', kinds.mapStringBool, 'A=maybe'],
    ['headers', kinds.colonSeparatedMultimap, 'a'],
    ['taints', taints, 'a'],
    ['taints', taints, 'a=b=c:NoSchedule'],
    ['taints', taints, 'a:Never'],
    ['taints', taints, '-a:NoSchedule'],
    ['taints', taints, ':NoSchedule'],
  ] as readonly (readonly [string, Kind<unknown>, string])[]) {
    test(`${name} "${text}"`, () => {
      assert.throws(() => kind.parse(text), ExpectedError);
    });
  }
});
