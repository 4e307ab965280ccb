import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeToRegister } from '../../../src/node/node-to-register.ts';
import { someOptions } from '../../builders/some-options.ts';

test('a node of an external cloud provider is registered with a taint, and its provider id', () => {
  const { spec } = nodeToRegister(someOptions({ cloudProvider: 'external', providerId: 'aws:///i-0' }));
  assert.deepEqual(spec, {
    taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
    providerID: 'aws:///i-0',
  });
  assert.deepEqual(nodeToRegister(someOptions()).spec, {});
});

test('who attaches volumes is an annotation', () => {
  const name = 'volumes.kubernetes.io/controller-managed-attach-detach';
  assert.deepEqual(nodeToRegister(someOptions()).metadata?.annotations, { [name]: 'true' });
  assert.equal(nodeToRegister(someOptions({ enableControllerAttachDetach: false })).metadata?.annotations, undefined);
});
