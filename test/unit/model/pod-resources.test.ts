import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podLimits, podRequests, podResourceRequest, type Quantities } from '../../../src/model/pod-resources.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const shown = (amounts: Quantities): object => Object.fromEntries([...amounts].map(([name, amount]) => [name, amount.canonical()]));
const asking = (cpu: string): object => ({ resources: { requests: { cpu } } });

test('what the pod as a whole asks for takes the place of what its containers ask for', () => {
  const pod = aPod('p', {
    containers: [aContainer('a', asking('1')), aContainer('b', { resources: { requests: { memory: '1Gi', 'ephemeral-storage': '1Gi' } } })],
    resources: { requests: { cpu: '3', 'ephemeral-storage': '9Gi' }, limits: { cpu: '4' } },
    overhead: { cpu: '100m' },
  });
  assert.deepEqual(shown(podRequests(pod)), { cpu: '3100m', memory: '1Gi', 'ephemeral-storage': '1Gi' });
  assert.deepEqual(shown(podLimits(pod)), { cpu: '4100m' });
  assert.equal(podResourceRequest(pod, 'cpu'), 3100n);
});

test('while a container is being resized the most of spec, allocation and actual resources counts', () => {
  const pod = {
    ...aPod('p', { containers: [aContainer('c', asking('1'))] }),
    status: {
      containerStatuses: [
        {
          name: 'c',
          image: '',
          imageID: '',
          ready: true,
          restartCount: 0,
          allocatedResources: { cpu: '2' },
          resources: { requests: { cpu: '1500m' } },
        },
      ],
    },
  };
  assert.deepEqual(shown(podRequests(pod)), { cpu: '1' });
  assert.deepEqual(shown(podRequests(pod, { useStatusResources: true })), { cpu: '2' });
});
