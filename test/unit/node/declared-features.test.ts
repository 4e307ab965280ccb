import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredFeatures } from '../../../src/node/declared-features.ts';

test('a node declares what its gates leave on, and nothing where nodes declare nothing', () => {
  assert.ok(declaredFeatures({})?.includes('ExtendWebSocketsToKubelet'));
  assert.equal(declaredFeatures({ ExtendWebSocketsToKubelet: false })?.includes('ExtendWebSocketsToKubelet'), false);
  assert.equal(declaredFeatures({ NodeDeclaredFeatures: false }), undefined);
});

test('in the order of their names', () => {
  const declared = declaredFeatures({}) ?? [];
  assert.deepEqual(declared, declared.toSorted());
});
