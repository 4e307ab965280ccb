import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerId } from '../../../src/model/container-id.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import { formatTime } from '../../../src/model/time.ts';
import type { ContainerAccess } from '../../../src/ports/container-access.ts';
import { capability } from '../../../src/probes/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { FakeSession } from '../../fakes/fake-session.ts';
import { nodeUnderTest, nothingGiven } from '../../builders/node-parts.ts';

test('readiness that a probe changes is shown at once, and asks for a look at the pod', async () => {
  const { node, clock, setStatus, woken, happened, controls } = nodeUnderTest();
  const pod = aPod('web', { containers: [aContainer('app', { readinessProbe: { exec: { command: ['check'] }, periodSeconds: 1 } })] });
  const { uid } = pod.metadata;
  const id = 'c1' as ContainerId;
  const access: ContainerAccess = {
    ...node.engine.access,
    exec: async (_id, _command, wanted, signal) => {
      const session = new FakeSession(wanted, signal);
      session.exit(0);
      return session;
    },
  };
  const { probes, services = [] } = capability({ ...node, engine: { ...node.engine, access } });
  const stop = new AbortController();
  const running = Promise.all(services.map((service) => service.run(stop.signal, nothingGiven)));
  const status: PodStatus = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: [
      {
        name: 'app',
        image: '',
        imageID: '',
        ready: false,
        started: true,
        restartCount: 0,
        containerID: `docker://${id}`,
        state: { running: { startedAt: formatTime(0) } },
      },
    ],
  };
  setStatus(pod, status);
  probes?.follow(pod);
  await clock.advance(5_000);
  assert.equal(probes?.readiness(id), 'success');
  assert.equal(node.statuses.get(uid)?.containerStatuses?.[0]?.ready, true);
  assert.equal(node.statuses.get(uid)?.conditions?.[0]?.status, 'True');
  assert.deepEqual(woken, [`${uid} probe result`]);
  const [first] = happened.flatMap((each) => (each.name === 'probeExecuted' ? [each.what] : []));
  assert.deepEqual([first?.container, first?.kind, first?.result], ['app', 'readiness', 'successful']);
  stop.abort();
  await running;
  assert.deepEqual(node.files.open('passed_probes.json', (json) => json).load(), { readiness: [id], startup: [] });
  controls.close();
});
