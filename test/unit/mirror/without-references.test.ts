import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutReferences } from '../../../src/mirror/without-references.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('a pod that refers to nothing is shown as it is', () => {
  const { spec } = aPod('web', { volumes: [{ name: 'e', emptyDir: {} }] });
  assert.equal(withoutReferences(spec), spec);
});

test('what a node may not refer to is left out, and every name stays', () => {
  const container = aContainer('app', {
    envFrom: [{ secretRef: { name: 's' } }],
    env: [
      { name: 'A', value: '1' },
      { name: 'B', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } },
      { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
  });
  const labels = { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } };
  const { spec } = aPod('web', {
    initContainers: [container],
    containers: [aContainer('plain')],
    volumes: [
      { name: 'm', configMap: { name: 'm' } },
      { name: 's', secret: { secretName: 's' } },
      { name: 'p', projected: { defaultMode: 420, sources: [{ secret: { name: 's' } }, labels] } },
      { name: 'q', projected: { sources: [{ configMap: { name: 'm' } }] } },
      { name: 'h', hostPath: { path: '/' } },
    ],
  });
  const { initContainers, containers, volumes } = withoutReferences(spec);
  assert.deepEqual(initContainers?.[0]?.env, [{ name: 'A', value: '1' }, { name: 'B' }, container.env?.[2]]);
  assert.equal(initContainers?.[0]?.envFrom, undefined);
  assert.equal(containers[0], spec.containers[0]);
  assert.deepEqual(volumes, [
    { name: 'm', emptyDir: {} },
    { name: 's', emptyDir: {} },
    { name: 'p', projected: { defaultMode: 420, sources: [labels] } },
    { name: 'q', emptyDir: {} },
    { name: 'h', hostPath: { path: '/' } },
  ]);
});
