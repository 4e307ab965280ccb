import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerResource, containerResourceByName, ContainerResourceError } from '../../../src/model/container-resource.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const container = aContainer('app', { resources: { limits: { cpu: '1500m', 'hugepages-2Mi': '4Mi' }, requests: { memory: '100M' } } });
const allocatable = { cpu: '4', memory: '7Gi', 'hugepages-2Mi': '1Gi' };

test('a resource is counted in units of the divisor, rounded up', () => {
  const table: readonly (readonly [string, string | undefined, string])[] = [
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '1m', '1500'],
    ['requests.memory', '1Mi', '96'],
    ['limits.hugepages-2Mi', '0', '4194304'],
    ['requests.cpu', '1', '0'],
  ];
  for (const [resource, divisor, value] of table) {
    assert.equal(containerResource({ resource, ...(divisor === undefined ? {} : { divisor }) }, container), value, resource);
  }
});

test("an unset limit is the node's, an unset request and huge pages are not", () => {
  assert.equal(containerResource({ resource: 'limits.memory', divisor: '1Gi' }, container, allocatable), '7');
  assert.equal(containerResource({ resource: 'requests.cpu' }, container, allocatable), '0');
  assert.equal(containerResource({ resource: 'limits.hugepages-2Mi' }, aContainer('b'), allocatable), '0');
  const empty = aContainer('b', JSON.parse('{"resources":{"limits":null,"requests":null}}'));
  assert.equal(containerResource({ resource: 'limits.cpu' }, empty, allocatable), '4');
  assert.equal(containerResource({ resource: 'requests.cpu' }, empty, allocatable), '0');
});

test('an unset limit is that of the pod as a whole, before it is the node’s', () => {
  const pod = aPod('p', {
    containers: [aContainer('app'), { ...container, name: 'limited' }],
    resources: { limits: { cpu: '1250m', memory: '0', 'ephemeral-storage': '1Gi' } },
  });
  const limits = ['cpu', 'memory', 'ephemeral-storage'].map((name) =>
    containerResourceByName({ resource: `limits.${name}`, divisor: name === 'cpu' ? '1m' : '1Gi' }, pod, 'app', {
      ...allocatable,
      'ephemeral-storage': '9Gi',
    }),
  );
  assert.deepEqual(limits, ['1250', '7', '9']);
  assert.equal(containerResourceByName({ resource: 'limits.cpu', divisor: '1m' }, pod, 'app', { memory: '7Gi' }), '0');
  assert.equal(containerResourceByName({ resource: 'limits.cpu', divisor: '1m' }, pod, 'limited', allocatable), '1500');
});

test('init containers are found by name; unknown names and resources are refused', () => {
  const pod = aPod('p', { initContainers: [aContainer('init', { resources: { limits: { cpu: '3' } } })] });
  assert.equal(containerResourceByName({ resource: 'limits.cpu' }, pod, 'init'), '3');
  assert.throws(
    () => containerResourceByName({ resource: 'limits.cpu' }, pod, 'nope'),
    new ContainerResourceError('container nope not found'),
  );
  for (const resource of ['cpu', 'limits.storage', 'Limits.cpu', 'limits.', '']) {
    assert.throws(
      () => containerResource({ resource }, container),
      new ContainerResourceError(`unsupported container resource : ${resource}`),
    );
  }
});
