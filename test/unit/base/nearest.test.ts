import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from '../../../src/base/nearest.ts';

const names = ['manifest-url', 'manifest-url-header', 'v', 'runonce', 'syncFrequency'];

for (const [word, expected] of [
  ['manifest-ulr', 'manifest-url'],
  ['SYNCFREQUENCY', 'syncFrequency'],
  ['run-once', 'runonce'],
  ['kubeconfig', undefined],
  ['', undefined],
] as const) {
  test(`the nearest to "${word}" is ${expected ?? 'nothing'}`, () => {
    assert.equal(nearest(word, names), expected);
  });
}
