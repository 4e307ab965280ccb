import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adoptedResources } from '../../../../src/agent/reconcile/adopted-resources.ts';
import { Quantity } from '../../../../src/model/quantity.ts';
import type { Container } from '../../../../src/model/pod.ts';
import type { ObservedContainer } from '../../../../src/ports/container-runtime.ts';
import { aContainer, aPod } from '../../../builders/a-pod.ts';
import { anInstance } from '../../../builders/an-observed-pod.ts';

/** What a container that is to have `resources` was made with, as the engine shows `cpuRequest`, `cpuLimit` and `memoryLimit`. */
function adopted(resources: Container['resources'], ...shown: readonly (string | undefined)[]): object {
  const container = aContainer('app', resources && { resources });
  const pod = aPod('web', { containers: [container] });
  const [cpuRequest, cpuLimit, memoryLimit] = shown.map((text) => (text === undefined ? undefined : Quantity.parse(text)));
  const observed: ObservedContainer = { ...anInstance(pod, 'app'), resources: { cpuRequest, cpuLimit, memoryLimit } };
  return adoptedResources(pod, container, observed);
}

test('what the engine shows, and the memory that the container is to ask for, which no engine knows', () => {
  const asked = { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1', memory: '2Gi' } };
  assert.deepEqual(adopted(asked, '100m', '200m', '64Mi'), {
    requests: { cpu: '100m', memory: '1Gi' },
    limits: { cpu: '200m', memory: '64Mi' },
  });
  assert.deepEqual(adopted(asked, undefined, undefined, undefined), { requests: { memory: '1Gi' }, limits: {} });
});

test('of the least that the kernel has, what was asked for', () => {
  assert.deepEqual(adopted({ requests: { cpu: '1m' }, limits: { cpu: '10m' } }, '2m', '10m'), {
    requests: { cpu: '1m' },
    limits: { cpu: '10m' },
  });
  assert.deepEqual(adopted({}, '2m', undefined), { requests: {}, limits: {} });
  assert.deepEqual(adopted({ requests: { cpu: '3m' } }, '2m', undefined), { requests: { cpu: '2m' }, limits: {} });
  assert.deepEqual(adopted({ limits: { cpu: '11m' } }, '10m', '10m'), { requests: {}, limits: { cpu: '10m' } });
});

test('a limit that stood in for a request is none', () => {
  assert.deepEqual(adopted({ limits: { cpu: '200m' } }, '200m', '200m'), { requests: {}, limits: { cpu: '200m' } });
});

test('an engine that shows nothing: what it is to have', () => {
  const container = aContainer('app', { resources: { limits: { cpu: '1' } } });
  const pod = aPod('web', { containers: [container], resources: { limits: { memory: '1Gi' } } });
  const { resources: _none, ...observed } = anInstance(pod, 'app');
  assert.deepEqual(adoptedResources(pod, container, observed), { requests: {}, limits: { cpu: '1', memory: '1Gi' } });
});
