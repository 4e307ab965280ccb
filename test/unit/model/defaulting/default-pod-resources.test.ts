import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPodResources } from '../../../../src/model/defaulting/default-pod-resources.ts';
import { aContainer } from '../../../builders/a-pod.ts';

test('a request that is missing is what the containers ask for together, else the limit of the pod', () => {
  const containers = ['1', '500m'].map((cpu, at) => aContainer(`c${at}`, { resources: { requests: { cpu, 'ephemeral-storage': '1Gi' } } }));
  const resources = { limits: { cpu: '4', memory: '1Gi' } };
  assert.deepEqual(defaultPodResources({ containers, resources }), {
    limits: { cpu: '4', memory: '1Gi' },
    requests: { cpu: '1500m', memory: '1Gi' },
  });
});

test('huge pages are limited to what the containers may have, unless the pod asks for some', () => {
  const containers = [aContainer('c', { resources: { limits: { 'hugepages-2Mi': '4Mi' } } })];
  const both = { cpu: '1', 'hugepages-2Mi': '4Mi' };
  assert.deepEqual(defaultPodResources({ containers, resources: { requests: { cpu: '1' } } }), {
    limits: { 'hugepages-2Mi': '4Mi' },
    requests: both,
  });
  const asked = { requests: { 'hugepages-2Mi': '2Mi' } };
  assert.deepEqual(defaultPodResources({ containers, resources: asked }), asked);
});

test('a pod that says nothing stays so, and so does one whose amounts are none', () => {
  const containers = [aContainer('c', { resources: { requests: { cpu: 'much' } } })];
  assert.equal(defaultPodResources({ containers }), undefined);
  assert.deepEqual(defaultPodResources({ containers, resources: {} }), {});
  assert.deepEqual(defaultPodResources({ containers, resources: { limits: { cpu: '1' } } }), { limits: { cpu: '1' } });
});
