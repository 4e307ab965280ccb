import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../../../src/model/pod.ts';
import { withProbeResults } from '../../../src/model/with-probe-results.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

test('a condition that a probe has turned says of which generation of the pod it is', () => {
  const pod = aPod('web', { containers: [aContainer('app', { readinessProbe: { tcpSocket: { port: 80 } } })] }, { generation: 4 });
  const status: PodStatus = {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'False', observedGeneration: 3 },
      { type: 'ContainersReady', status: 'False', observedGeneration: 3 },
    ],
    containerStatuses: [
      {
        name: 'app',
        image: 'i',
        imageID: '',
        ready: false,
        restartCount: 0,
        containerID: 'docker://1',
        state: { running: {} },
        started: true,
      },
    ],
  };
  const now = withProbeResults(pod, status, { startup: () => undefined, readiness: () => 'success' });
  assert.deepEqual(
    now.conditions?.map((condition) => [condition.status, condition.observedGeneration]),
    [
      ['True', 4],
      ['True', 4],
    ],
  );
});
