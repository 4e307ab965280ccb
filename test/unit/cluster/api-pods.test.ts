import assert from 'node:assert/strict';
import { aPodThat, server, worker } from '../../builders/pods-that.ts';
import { clusterScenario, pathOf } from '../../fakes/cluster-scenario.ts';
import { refusals } from '../../fakes/fake-kube-api.ts';

clusterScenario('a pod bound to the node runs, and the API shows how it is', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(1000);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
  const status = it.apiStatus(pod);
  assert.equal(status?.phase, 'Running');
  assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
});

clusterScenario('a deleted pod ends, its end is told, and then it is deleted from the API and forgotten', async (it) => {
  const pod = aPodThat('web', { terminationGracePeriodSeconds: 20 });
  it.create(pod);
  await it.advance(1000);
  let last = it.apiStatus(pod);
  it.api.intercept(({ method, path }) => {
    if (method === 'DELETE' && path === pathOf(pod)) last = it.apiStatus(pod);
  });
  await it.delete(pod);
  await it.advance(1000);
  assert.equal(it.object(pod), undefined);
  assert.deepEqual(it.world(), []);
  assert.ok(last?.containerStatuses?.every(({ state }) => state?.terminated !== undefined));
  assert.match(last?.phase ?? '', /Succeeded|Failed/);
  const body = it.api.requests.find(({ method, door }) => method === 'DELETE' && door === 'main')?.body;
  assert.deepEqual(body, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    preconditions: { uid: pod.metadata.uid },
  });
  await it.advance(60_000);
  assert.equal(it.status(pod), undefined);
  const records = it.records.length;
  await it.advance(600_000);
  assert.equal(it.records.length, records);
});

clusterScenario('a pod that ignores SIGTERM is killed when the grace period of its deletion ends', async (it) => {
  const pod = aPodThat('deaf', { terminationGracePeriodSeconds: 20 }, { app: 'term=ignore' });
  it.create(pod);
  await it.advance(1000);
  await it.delete(pod, 5);
  await it.advance(4000);
  assert.ok(it.object(pod));
  await it.advance(2000);
  assert.equal(it.object(pod), undefined);
  assert.equal(Math.round(((it.times('ended', 'deaf/app')[0] ?? 0) - 1000) / 1000), 5);
});

clusterScenario('a grace period that is shortened while the pod ends counts at once, with what has passed taken off', async (it) => {
  const pod = aPodThat('deaf', { terminationGracePeriodSeconds: 300 }, { app: 'term=ignore' });
  it.create(pod);
  await it.advance(1000);
  await it.delete(pod);
  await it.advance(4000);
  await it.delete(pod, 10);
  await it.advance(12_000);
  assert.equal(Math.round(((it.times('ended', 'deaf/app')[0] ?? 0) - 1000) / 1000), 10);
  assert.equal(it.object(pod), undefined);
});

clusterScenario('a pod that is deleted by force vanishes from the API and is ended like one that nobody declares', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(1000);
  await it.delete(pod, 0);
  await it.advance(2000);
  assert.deepEqual(it.world(), []);
  assert.equal(it.status(pod), undefined);
  assert.ok(!it.calls().some((call) => call.startsWith('DELETE')));
});

clusterScenario('a pod with a finalizer is asked to go once and stays until the finalizer has gone', async (it) => {
  const pod = aPodThat('held');
  it.create(pod, { finalizers: ['example.com/hold'] });
  await it.advance(1000);
  await it.delete(pod);
  await it.advance(120_000);
  assert.ok(it.object(pod));
  assert.deepEqual(it.world(), []);
  assert.equal(it.calls().filter((call) => call.startsWith('DELETE')).length, 1);
  it.create(pod, { deletionTimestamp: '2021-02-03T04:05:06Z', deletionGracePeriodSeconds: 0, finalizers: [] });
  await it.advance(1000);
  assert.equal(it.object(pod), undefined);
  assert.equal(it.status(pod), undefined);
});

clusterScenario('a job that has ended keeps its status and its containers, until it is deleted', async (it) => {
  const pod = aPodThat('job', { restartPolicy: 'Never', containers: [worker('work', 2, 3)] });
  it.create(pod);
  await it.advance(10_000);
  assert.equal(it.apiStatus(pod)?.phase, 'Failed');
  assert.equal(it.apiStatus(pod)?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
  assert.equal(it.world().length, 2);
  await it.delete(pod);
  await it.advance(1000);
  assert.equal(it.object(pod), undefined);
  assert.deepEqual(it.world(), []);
});

clusterScenario('a pod deleted while its image is pulled goes at once', async (it) => {
  const pod = aPodThat('web');
  it.engine.controls.scriptPull('busybox:1.35', { kind: 'slow', ms: 60_000 });
  it.create(pod);
  await it.advance(5000);
  await it.delete(pod);
  await it.advance(1000);
  assert.equal(it.object(pod), undefined);
  assert.deepEqual(it.world(), []);
});

clusterScenario('a pod of the same name follows the deleted one as soon as that has gone', async (it) => {
  const first = aPodThat('db', { containers: [server('app')] });
  it.create(first);
  await it.advance(1000);
  await it.delete(first);
  await it.advance(1000);
  assert.equal(it.object(first), undefined);
  it.create(aPodThat('db', {}, {}, { uid: 'uid-second' as typeof first.metadata.uid }));
  await it.advance(1000);
  assert.deepEqual(it.running(), ['db/POD', 'db/app']);
  assert.equal(it.object(first)?.metadata.uid, 'uid-second');
  assert.equal(it.apiStatus(first)?.phase, 'Running');
});

clusterScenario('a pod deleted while the agent was away is ended and deleted by the next one', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(1000);
  await it.stopAgent();
  await it.delete(pod);
  await it.restartAgent();
  it.declare();
  await it.advance(2000);
  assert.equal(it.object(pod), undefined);
  assert.deepEqual(it.world(), []);
});

clusterScenario('an agent that is restarted sends nothing about pods that are as the API shows them', async (it) => {
  const pod = aPodThat('web');
  it.create(pod);
  await it.advance(1000);
  await it.stopAgent();
  const before = it.calls().length;
  await it.restartAgent();
  it.declare();
  await it.advance(60_000);
  assert.deepEqual(it.calls().slice(before), []);
  assert.deepEqual(it.running(), ['web/POD', 'web/app']);
});

clusterScenario('while the API refuses everything pods run and restart, and afterwards it shows them as they are', async (it) => {
  const pod = aPodThat('web');
  const stop = it.api.intercept(({ door }) => {
    if (door === 'main') throw refusals.internal();
  });
  it.create(pod);
  await it.advance(2000);
  it.kill('web/app');
  await it.advance(60_000);
  assert.equal(it.one('web/app').attempt, 1);
  assert.equal(it.apiStatus(pod), undefined);
  stop();
  await it.advance(5000);
  assert.equal(it.apiStatus(pod)?.containerStatuses?.[0]?.restartCount, 1);
});

clusterScenario(
  'a pod that does not belong here is refused for good: nothing runs, the API shows why, and it can be deleted',
  async (it) => {
    const pod = aPodThat('lost', { nodeSelector: { disk: 'tape' } });
    it.create(pod);
    await it.advance(120_000);
    const { phase, reason, message } = it.apiStatus(pod) ?? {};
    const refused = {
      phase: 'Failed',
      reason: 'NodeAffinity',
      message: "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    };
    assert.deepEqual({ phase, reason, message }, refused);
    assert.deepEqual(it.story('created'), []);
    await it.stopAgent();
    await it.restartAgent();
    it.declare();
    await it.advance(120_000);
    assert.equal(it.apiStatus(pod)?.reason, 'NodeAffinity');
    await it.delete(pod);
    await it.advance(1000);
    assert.equal(it.object(pod), undefined);
  },
);

clusterScenario('a sandbox that turns up after its pod was seen to have ended is removed', async (it) => {
  const pod = aPodThat('late');
  it.create(pod, { finalizers: ['example.com/hold'] });
  await it.advance(1000);
  await it.delete(pod);
  await it.advance(60_000);
  assert.deepEqual(it.world(), []);
  // The create was given up on, but the engine had begun.
  const created = it.engine.runtime.runSandbox(pod, { attempt: 0, hostname: 'late' }, new AbortController().signal);
  await it.advance(20_000);
  await created;
  assert.equal(it.times('created', 'late/POD').length, 2);
  await it.advance(60_000);
  assert.deepEqual(it.world(), []);
  const observed = it.engine.controls.calls('observePod');
  await it.advance(600_000);
  assert.equal(it.engine.controls.calls('observePod'), observed, 'an ended pod is not looked at without cause');
});

clusterScenario('a pod that has ended keeps its address in the API, also with the next agent', async (it) => {
  const pod = aPodThat('job', { restartPolicy: 'Never' }, { app: 'exit=0 after=10s' });
  it.create(pod);
  await it.advance(1000);
  const { podIP, podIPs } = it.apiStatus(pod) ?? {};
  assert.ok(podIP);
  await it.advance(20_000);
  assert.deepEqual(it.running(), []);
  const shown = () => ({ phase: it.apiStatus(pod)?.phase, podIP: it.apiStatus(pod)?.podIP, podIPs: it.apiStatus(pod)?.podIPs });
  assert.deepEqual(shown(), { phase: 'Succeeded', podIP, podIPs });
  await it.restartAgent();
  it.declare();
  await it.advance(120_000);
  assert.deepEqual(shown(), { phase: 'Succeeded', podIP, podIPs });
});
