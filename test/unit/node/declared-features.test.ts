import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredFeatures } from '../../../src/node/declared-features.ts';

test('a node declares what its gates leave on, and nothing where nodes declare nothing', () => {
  for (const name of ['ExtendWebSocketsToKubelet', 'InPlacePodVerticalScalingInitContainers', 'RestartAllContainersOnContainerExits']) {
    assert.ok(declaredFeatures({})?.includes(name), name);
    assert.equal(declaredFeatures({ [name]: false })?.includes(name), false, name);
  }
  assert.equal(declaredFeatures({ NodeDeclaredFeatures: false }), undefined);
});

test('in the order of their names', () => {
  const declared = declaredFeatures({}) ?? [];
  assert.deepEqual(declared, declared.toSorted());
});
