import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testImage } from '../../builders/docker-under-test.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { type ClusterNode, isPodReady } from './cluster-node.ts';
import { sharedNode } from './shared-node.ts';
import { dockerOf } from '../../integration/agent/docker-test-engine.ts';

describe('what controllers and people do with pods', { timeout: 250_000 }, () => {
  const shared = sharedNode();
  let node: ClusterNode;
  before(async () => {
    node = await shared.start();
  });
  after(() => shared.stop());

  const template = (name: string, spec: object) => ({ metadata: { labels: { app: name } }, spec });
  const noneLeft = (name: string): Promise<boolean> =>
    node.until(`nothing of ${name} is left in the engine`, async () => (await node.containers(name)).length === 0);

  test('a StatefulSet restarts its pods one after another, under the same names', async () => {
    const name = node.called('db');
    await node.apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: { replicas: 2, serviceName: 'db', selector: { matchLabels: { app: 'db' } }, template: template('db', node.here(pod())) },
    });
    await node.kubectl('rollout', 'status', 'statefulset', name, '--timeout=60s');
    const before = [0, 1].map((ordinal) => node.pod(`db-${ordinal}`)?.metadata?.uid);
    await node.kubectl('rollout', 'restart', 'statefulset', name);
    await node.kubectl('rollout', 'status', 'statefulset', name, '--timeout=60s');
    const now = await Promise.all([0, 1].map((ordinal) => node.up(`db-${ordinal}`)));
    assert.ok(now.every(({ metadata }) => !before.includes(metadata?.uid)));
    await node.until('just the new ones are in the engine', async () => (await node.containers('db')).length === 4);
    await node.kubectl('delete', 'statefulset', name);
    await noneLeft('db');
  });

  test('a Job completes, with a retry of the pod that failed', async () => {
    const name = node.called('job');
    const script = 'if [ -e /shared/tried ]; then exit 0; fi; touch /shared/tried; exit 1';
    const container = app(script, { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] });
    const volumes = [{ name: 'shared', emptyDir: {} }];
    await node.apply({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: {
        completions: 3,
        parallelism: 3,
        template: template('job', node.here(pod([container], { volumes, restartPolicy: 'OnFailure' }))),
      },
    });
    await node.kubectl('wait', '--for=condition=complete', 'job', name, '--timeout=60s');
    const pods = node.pods.list().filter(({ metadata }) => metadata?.name?.startsWith(name));
    assert.deepEqual(
      pods.map(({ status }) => [status?.phase, status?.containerStatuses?.[0]?.restartCount]),
      [1, 2, 3].map(() => ['Succeeded', 1]),
    );
    await node.kubectl('delete', 'job', name);
    await noneLeft('job');
  });

  test('init containers run one after another, and status tells how far they are', async () => {
    const init = (name: string) => app('sleep 0.3', { name });
    await node.create('slow', pod([app()], { initContainers: [init('first'), init('second')] }));
    const ready = await node.up('slow');
    const ended = ready.status?.initContainerStatuses?.map(({ name, ready: done, state }) => [name, done, state?.terminated?.reason]);
    assert.deepEqual(ended, [
      ['first', true, 'Completed'],
      ['second', true, 'Completed'],
    ]);
    const initialized = node.pods
      .history(node.called('slow'))
      .map(({ object }) => object.status?.conditions?.find(({ type }) => type === 'Initialized')?.status)
      .filter((status) => status !== undefined);
    assert.deepEqual([...new Set(initialized)], ['False', 'True']);
    await node.kubectl('delete', 'pod', node.called('slow'));
  });

  test('a label changes nothing that runs, an image restarts its container in the same pod', async () => {
    const image = `${node.agent.prefix}img:1`;
    await dockerOf(node.agent.engine).call('POST', `/images/${testImage}/tag?repo=${node.agent.prefix}img&tag=1`);
    await node.create('changed', pod([app(), app(stays, { name: 'side' })]));
    const before = await node.up('changed');
    const heard = node.agent.engine.events.length;
    await node.kubectl('label', 'pod', node.called('changed'), 'tier=front');
    await node.kubectl('set', 'image', `pod/${node.called('changed')}`, `app=${image}`);
    const now = await node.becomes('changed', 'with the other image, Ready', (pod_) => {
      const status = pod_.status?.containerStatuses?.find(({ name }) => name === 'app');
      return isPodReady(pod_) && status?.restartCount === 1;
    });
    await node.agent.engine.removeImage(image);
    assert.equal(now.status?.podIP, before.status?.podIP);
    const started = node.agent.engine.events.slice(heard).filter(({ action }) => action === 'start');
    assert.deepEqual(
      started.map(({ container }) => container),
      ['app'],
    );
    await node.kubectl('delete', 'pod', node.called('changed'));
  });

  test('a pod past its deadline fails as DeadlineExceeded', async () => {
    await node.create('late', pod([app()], { activeDeadlineSeconds: 1 }));
    const { status } = await node.phase('late', 'Failed');
    assert.equal(status?.reason, 'DeadlineExceeded');
    assert.equal(status?.message, 'Pod was active on the node longer than the specified deadline');
    await node.event(node.called('late'), 'DeadlineExceeded');
    await node.until('it runs no more', async () => (await node.containers('late')).every(({ state }) => state !== 'running'));
    await node.kubectl('delete', 'pod', node.called('late'));
  });

  test('a pod whose host port is taken is refused when it names the node, and waits when it is scheduled', async () => {
    const binds = (over: object = {}) => pod([app(stays, { ports: [{ containerPort: 80, hostPort: 28_123 }] })], over);
    const bound = { nodeName: node.name };
    await node.create('first', binds(bound));
    await node.up('first');
    // The scheduler forgets who has a port when one that was refused it ends: it is asked before.
    await node.create('third', binds());
    await node.event(node.called('third'), 'FailedScheduling');
    await node.create('second', binds(bound));
    const { status } = await node.phase('second', 'Failed');
    assert.deepEqual(
      [status?.reason, status?.message],
      ['NodePorts', "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"],
    );
    await node.kubectl('delete', 'pod', node.called('first'), node.called('second'));
    await node.up('third');
    await node.kubectl('delete', 'pod', node.called('third'));
    await noneLeft('third');
  });

  test('a pod that is deleted while its image is missing goes at once', async () => {
    await node.create('stuck', pod([app(undefined, { image: '127.0.0.1:1/nothing:1' })], { terminationGracePeriodSeconds: 30 }));
    await node.event(node.called('stuck'), 'Failed');
    const sinceMs = Date.now();
    await node.kubectl('delete', 'pod', node.called('stuck'));
    // Its grace period is 30 s.
    assert.ok(Date.now() - sinceMs < 15_000, `${Date.now() - sinceMs} ms`);
    await noneLeft('stuck');
  });

  test('a namespace is deleted with all that runs in it', async () => {
    const namespace = `${node.namespace}-doomed`;
    await node.kubectl('create', 'namespace', namespace);
    await node.kubectl(
      'run',
      node.called('doomed'),
      '-n',
      namespace,
      `--image=${testImage}`,
      '--overrides',
      JSON.stringify({ spec: node.here(pod()) }),
    );
    await node.until('it runs', async () => (await node.containers('doomed')).filter(({ state }) => state === 'running').length === 2);
    await node.kubectl('delete', 'namespace', namespace, '--timeout=60s');
    await noneLeft('doomed');
  });
});
