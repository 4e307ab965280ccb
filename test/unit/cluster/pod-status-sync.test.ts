import assert from 'node:assert/strict';
import { ApiUnreachableError } from '../../../src/model/api-error.ts';
import type { Pod, PodStatus } from '../../../src/model/pod.ts';
import { aPodThat } from '../../builders/pods-that.ts';
import { type ClusterScenario, clusterScenario, pathOf } from '../../fakes/cluster-scenario.ts';
import { refusals } from '../../fakes/fake-kube-api.ts';

/** Somebody else's write of the status. */
function overwrite(it: ClusterScenario, pod: Pod, change: (status: PodStatus) => PodStatus): void {
  const object = it.object(pod);
  assert.ok(object);
  it.api.put(pathOf(pod), { ...object, status: change(object.status ?? {}) });
}
const patches = (it: ClusterScenario): number => it.calls().filter((call) => call.startsWith('PATCH')).length;
const gate = { type: 'example.com/gate', status: 'True' };

clusterScenario('a pod that has come up has cost two patches and no read', async (it) => {
  it.create(aPodThat('web'));
  await it.advance(60_000);
  assert.deepEqual(it.calls(), ['PATCH default/web/status', 'PATCH default/web/status']);
});

clusterScenario('a status that somebody overwrites is put right, and two who never agree do so every ten seconds', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(20_000);
  overwrite(it, pod, (status) => ({ ...status, phase: 'Pending' }));
  await it.advance(100);
  assert.equal(it.apiStatus(pod)?.phase, 'Running');
  const before = patches(it);
  for (let second = 0; second < 30; second++) {
    overwrite(it, pod, (status) => ({ ...status, phase: 'Pending' }));
    await it.advance(1000);
  }
  assert.ok(patches(it) - before <= 4, `${patches(it) - before} patches`);
});

clusterScenario('a condition that somebody changes while a patch is on its way is put right', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(20_000);
  const stop = it.api.intercept(({ method, body }) => {
    // The last of those that a restart costs.
    const { conditions = [] } = method === 'PATCH' ? (body as { status: PodStatus }).status : {};
    if (!conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return;
    stop();
    overwrite(it, pod, (status) => ({
      ...status,
      conditions: (status.conditions ?? []).map((each) => (each.type === 'Initialized' ? { ...each, status: 'False' } : each)),
    }));
  });
  it.kill('web/app');
  await it.advance(5000);
  assert.equal(it.apiStatus(pod)?.containerStatuses?.[0]?.restartCount, 1);
  assert.equal(it.apiStatus(pod)?.conditions?.find(({ type }) => type === 'Initialized')?.status, 'True');
});

clusterScenario('conditions and fields of others stay as they are', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(20_000);
  const before = patches(it);
  overwrite(it, pod, (status) => ({ ...status, nominatedNodeName: 'n', conditions: [...(status.conditions ?? []), gate] }));
  await it.advance(20_000);
  assert.equal(patches(it), before, 'there is nothing to say about them');
  it.kill('web/app');
  await it.advance(20_000);
  assert.ok(patches(it) > before);
  assert.deepEqual(
    it.apiStatus(pod)?.conditions?.find(({ type }) => type === gate.type),
    gate,
  );
  assert.equal(it.apiStatus(pod)?.nominatedNodeName, 'n');
});

clusterScenario('a readiness gate that somebody sets makes the pod ready', async (it) => {
  const pod = aPodThat('web', { readinessGates: [{ conditionType: gate.type }] });
  const ready = (): string | undefined => it.apiStatus(pod)?.conditions?.find(({ type }) => type === 'Ready')?.status;
  it.create(pod);
  await it.advance(5000);
  assert.equal(ready(), 'False');
  overwrite(it, pod, (status) => ({ ...status, conditions: [...(status.conditions ?? []), gate] }));
  await it.advance(1000);
  assert.equal(ready(), 'True');
});

clusterScenario('a pod that somebody sets to Failed is stopped and stays Failed', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(5000);
  overwrite(it, pod, (status) => ({ ...status, phase: 'Failed', reason: 'Preempted' }));
  await it.advance(5000);
  assert.deepEqual(it.running(), []);
  assert.equal(it.apiStatus(pod)?.phase, 'Failed');
});

clusterScenario('fields that the server drops are not sent again and again', async (it) => {
  const pod = aPodThat('web');
  it.api.intercept(({ method, path, body }) => {
    if (method !== 'PATCH' || !path.endsWith('/status')) return;
    const { status } = body as { status: Record<string, unknown> };
    delete status['qosClass'];
  });
  it.create(pod);
  await it.advance(60_000);
  const before = patches(it);
  for (let change = 0; change < 5; change++) {
    overwrite(it, pod, (status) => ({ ...status, nominatedNodeName: `n${change}` }));
    await it.advance(60_000);
  }
  assert.ok(patches(it) - before <= 5);
});

clusterScenario('a patch that the server refuses is sent again with the newest status', async (it) => {
  const pod = aPodThat('web');
  it.api.refuse('PATCH', '/status', refusals.internal(), 3);
  it.create(pod);
  await it.advance(5000);
  assert.equal(it.apiStatus(pod)?.phase, 'Running');
});

clusterScenario('after an outage statuses are there within five seconds', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(5000);
  const stop = it.api.intercept(({ door }) => {
    if (door === 'main') throw new ApiUnreachableError('connect ECONNREFUSED');
  });
  it.kill('web/app');
  await it.advance(60_000);
  stop();
  await it.advance(5000);
  assert.equal(it.apiStatus(pod)?.containerStatuses?.[0]?.restartCount, 1);
});

clusterScenario('a deletion that the server refuses is asked for again', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(1000);
  const stop = it.api.intercept(({ method, door }) => {
    if (method === 'DELETE' && door === 'main') throw refusals.internal();
  });
  await it.delete(pod);
  await it.advance(10_000);
  assert.ok(it.object(pod));
  stop();
  await it.advance(5000);
  assert.equal(it.object(pod), undefined);
});
