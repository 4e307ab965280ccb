import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asPrefix,
  type FormatCheck,
  isConfigMapKey,
  isDns1123Subdomain,
  isEnvVarName,
  isPortName,
  isQualifiedName,
} from '../../../../src/model/validation/formats.ts';

const good: readonly (readonly [FormatCheck, ...string[]])[] = [
  [isDns1123Subdomain, 'a', '0', 'a.b-c', 'a'.repeat(253)],
  [isQualifiedName, 'a', 'A_b.c', 'example.com/Name', 'a'.repeat(63)],
  [isEnvVarName, 'A', '-', '.a', 'a.b-c_1', '1', 'a b', '~'],
  [isConfigMapKey, 'a', '1', '.dot', 'A_b-c'],
  [isPortName, 'http', 'a-1'],
  [asPrefix(isDns1123Subdomain), 'web-', '-'],
];
for (const [check, ...values] of good) {
  for (const value of values) test(`${check.name || 'format'} takes ${value.slice(0, 20)}`, () => assert.deepEqual(check(value), []));
}

const bad: readonly (readonly [FormatCheck, value: string, messages: number])[] = [
  [isDns1123Subdomain, '', 1],
  [isDns1123Subdomain, 'a..b', 1],
  [isDns1123Subdomain, 'a\n', 1],
  [isDns1123Subdomain, 'A'.repeat(254), 2],
  [isQualifiedName, 'a/b/c', 1],
  [isQualifiedName, '/', 3],
  [isQualifiedName, 'A_b/', 3],
  [asPrefix(isDns1123Subdomain), 'é-', 1],
  [isEnvVarName, 'a=b', 1],
  [isEnvVarName, '..é', 1],
  [isEnvVarName, '', 1],
  [isConfigMapKey, '..', 1],
  [isPortName, '', 2],
  [isPortName, '-A--', 4],
];
for (const [check, value, messages] of bad) {
  test(`${check.name || 'format'} finds ${messages} faults in ${JSON.stringify(value.slice(0, 20))}`, () =>
    assert.equal(check(value).length, messages));
}

test('lengths count bytes, as Go counts them', () => {
  const [about] = isQualifiedName('é'.repeat(32));
  assert.equal(about, 'name part must be no more than 63 bytes');
});
