import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from '../../../src/base/nearest.ts';

const names = ['manifest-url', 'manifest-url-header', 'v', 'runonce', 'syncFrequency', 'imagePullPolicy', 'name', 'env', 'envFrom'];

for (const [word, expected] of [
  ['manifest-ulr', 'manifest-url'],
  ['SYNCFREQUENCY', 'syncFrequency'],
  ['run-once', 'runonce'],
  ['imgePullPolicy', 'imagePullPolicy'],
  ['nmae', 'name'],
  ['evn', 'env'],
  ['kubeconfig', undefined],
  ['x'.repeat(100_000), undefined],
  ['', undefined],
] as const) {
  test(`the nearest to "${word.slice(0, 30)}" is ${expected ?? 'nothing'}`, () => {
    assert.equal(nearest(word, names), expected);
  });
}
