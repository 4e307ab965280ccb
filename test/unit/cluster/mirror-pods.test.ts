import assert from 'node:assert/strict';
import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION } from '../../../src/model/config-annotations.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { aPodThat, edited } from '../../builders/pods-that.ts';
import { clusterScenario, NODE, pathOf } from '../../fakes/cluster-scenario.ts';
import { refusals } from '../../fakes/fake-kube-api.ts';

/** A static pod as a source gives it: bound to the node, and its hash is its uid. */
const staticPod = (name: string): Pod => withHash(aPodThat(name));
const withHash = (pod: Pod): Pod => ({
  ...pod,
  spec: { ...pod.spec, nodeName: NODE },
  metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [CONFIG_HASH_ANNOTATION]: pod.metadata.uid } },
});

clusterScenario('a static pod runs, and a mirror pod shows its status', async (it) => {
  const pod = staticPod('etcd');
  it.declare(pod);
  await it.advance(1000);
  const mirror = it.object(pod);
  assert.equal(mirror?.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION], pod.metadata.uid);
  assert.notEqual(mirror?.metadata.uid, pod.metadata.uid);
  assert.deepEqual(mirror?.metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: NODE, uid: 'node-uid', controller: true }]);
  assert.equal(mirror?.status?.phase, 'Running');
  assert.deepEqual(it.running(), ['etcd/POD', 'etcd/app']);
});

clusterScenario('mirror pods are never run', async (it) => {
  const mirror = aPodThat('old');
  it.create(mirror, { annotations: { [CONFIG_MIRROR_ANNOTATION]: 'h' } });
  await it.advance(60_000);
  assert.deepEqual(it.story('created'), []);
});

clusterScenario('a mirror pod whose static pod is gone is deleted, at once and as the object that it was', async (it) => {
  const pod = aPodThat('old', {}, {}, { uid: 'uid-mirror' as Pod['metadata']['uid'] });
  it.create(pod, { annotations: { [CONFIG_MIRROR_ANNOTATION]: 'h' } });
  await it.advance(1000);
  assert.equal(it.object(pod), undefined);
  const body = it.api.requests.find(({ method }) => method === 'DELETE')?.body;
  assert.deepEqual(body, { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: 'uid-mirror' } });
});

clusterScenario('the mirror of a removed static pod stays until the pod has ended', async (it) => {
  const pod = withHash(aPodThat('slow', { terminationGracePeriodSeconds: 30 }, { app: 'term=ignore' }));
  it.declare(pod);
  await it.advance(1000);
  it.declare();
  await it.advance(20_000);
  assert.ok(it.object(pod));
  await it.advance(15_000);
  assert.equal(it.object(pod), undefined);
});

clusterScenario('a changed static pod gets another mirror', async (it) => {
  const before = staticPod('etcd');
  it.declare(before);
  await it.advance(1000);
  const first = it.object(before)?.metadata.uid;
  const after = withHash(edited(before, 'uid-after'));
  it.declare(after);
  await it.advance(5000);
  const mirror = it.object(after);
  assert.notEqual(mirror?.metadata.uid, first);
  assert.equal(mirror?.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION], 'uid-after');
  assert.equal(mirror?.status?.phase, 'Running');
});

clusterScenario('a mirror that somebody deletes comes back with its status, and the static pod does not notice', async (it) => {
  const pod = staticPod('etcd');
  it.declare(pod);
  await it.advance(1000);
  const first = it.object(pod)?.metadata.uid;
  await it.delete(pod);
  await it.advance(5000);
  assert.notEqual(it.object(pod)?.metadata.uid, first);
  assert.equal(it.apiStatus(pod)?.phase, 'Running');
  assert.deepEqual(it.story('started', 'ended'), ['started etcd/app']);
});

clusterScenario('without an API server static pods start, and are mirrored once it answers', async (it) => {
  const pod = staticPod('etcd');
  const stop = it.api.intercept(({ door }) => {
    if (door === 'main') throw refusals.internal();
  });
  it.declare(pod);
  await it.advance(1000);
  assert.deepEqual(it.running(), ['etcd/POD', 'etcd/app']);
  await it.advance(60_000);
  stop();
  await it.advance(10_000);
  assert.equal(it.apiStatus(pod)?.phase, 'Running');
});

clusterScenario('a mirror pod waits for the Node, and is not made for one that goes', async (it) => {
  it.node.next(undefined);
  const pod = staticPod('etcd');
  it.declare(pod);
  await it.advance(10_000);
  assert.equal(it.object(pod), undefined);
  it.node.next({ metadata: { name: NODE, uid: 'n', deletionTimestamp: '2021-02-03T04:05:06Z' } });
  await it.advance(10_000);
  assert.equal(it.object(pod), undefined);
  it.node.next({ metadata: { name: NODE, uid: 'n2' } });
  await it.advance(1000);
  assert.equal(it.object(pod)?.metadata.ownerReferences?.[0]?.uid, 'n2');
});

clusterScenario('a pod of the same name that is no mirror is left alone', async (it) => {
  const stranger = aPodThat('etcd', {}, {}, { uid: 'uid-stranger' as Pod['metadata']['uid'] });
  it.api.put(pathOf(stranger), { ...stranger, spec: { ...stranger.spec, nodeName: 'another' } });
  it.declare(staticPod('etcd'));
  await it.advance(300_000);
  assert.ok(it.calls().length <= 24, 'asked now and then');
  assert.equal(it.object(stranger)?.metadata.uid, 'uid-stranger');
  assert.deepEqual(it.running(), ['etcd/POD', 'etcd/app']);
});

clusterScenario('a restarted agent leaves right mirrors as they are', async (it) => {
  const pod = staticPod('etcd');
  it.declare(pod);
  await it.advance(1000);
  await it.stopAgent();
  const before = it.calls().length;
  await it.restartAgent();
  it.declare(pod);
  await it.advance(60_000);
  assert.deepEqual(
    it
      .calls()
      .slice(before)
      .filter((call) => !call.startsWith('PATCH')),
    [],
  );
});

clusterScenario(
  'a static pod that has ended keeps its address in its mirror pod, also with the next agent; an edited one has none yet',
  async (it) => {
    const pod = withHash(aPodThat('job', { restartPolicy: 'Never' }, { app: 'exit=0 after=10s' }));
    it.declare(pod);
    await it.advance(1000);
    const podIP = it.apiStatus(pod)?.podIP;
    assert.ok(podIP);
    await it.advance(20_000);
    const shown = () => ({ phase: it.apiStatus(pod)?.phase, podIP: it.apiStatus(pod)?.podIP });
    assert.deepEqual(shown(), { phase: 'Succeeded', podIP });
    await it.restartAgent();
    it.declare(pod);
    await it.advance(120_000);
    assert.deepEqual(shown(), { phase: 'Succeeded', podIP });
    await it.restartAgent();
    it.engine.controls.fail('runSandbox', undefined, 1000);
    it.declare(withHash(edited(pod, 'job-2')));
    await it.advance(60_000);
    assert.deepEqual(shown(), { phase: 'Pending', podIP: undefined });
  },
);
