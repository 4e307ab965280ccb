import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeReference, podReference } from '../../../src/model/object-reference.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('a container is named by its place in the pod', () => {
  const pod = aPod('web', { initContainers: [aContainer('setup')], ephemeralContainers: [aContainer('debug')] });
  for (const [container, fieldPath] of [
    ['app', 'spec.containers{app}'],
    ['setup', 'spec.initContainers{setup}'],
    ['debug', 'spec.ephemeralContainers{debug}'],
    ['POD', 'implicitly required container POD'],
    [undefined, undefined],
  ] as const) {
    assert.equal(podReference(pod, container).fieldPath, fieldPath);
  }
});

test('a pod of the API server is named with the version that was seen, a static pod without one', () => {
  const reference = { kind: 'Pod', apiVersion: 'v1', name: 'web', namespace: 'default', uid: 'uid-web' };
  assert.deepEqual(podReference(aPod('web')), reference);
  assert.deepEqual(podReference(aPod('web', {}, { resourceVersion: '7' })), { ...reference, resourceVersion: '7' });
});

test('a node is named by its name, which stands in for the uid', () => {
  assert.deepEqual(nodeReference('lab'), { kind: 'Node', name: 'lab', uid: 'lab' });
});
