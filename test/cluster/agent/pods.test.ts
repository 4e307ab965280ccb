import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { app, pod } from '../../integration/agent/pod-specs.ts';
import type { ClusterNode } from './cluster-node.ts';
import { sharedNode } from './shared-node.ts';

describe('pods of the API server', { timeout: 250_000 }, () => {
  const shared = sharedNode();
  let node: ClusterNode;
  before(async () => {
    node = await shared.start();
  });
  after(() => shared.stop());

  test('a Deployment of 10 becomes available, is updated, scaled and deleted, and leaves nothing in the engine', async (t) => {
    const name = node.called('web');
    const deployment = (env: string): object => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas: 10,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: node.here(pod([app(undefined, { env: [{ name: 'RELEASE', value: env }] })])),
        },
      },
    });
    const timed = async (what: string, step: () => Promise<unknown>): Promise<void> => {
      const sinceMs = Date.now();
      await step();
      t.diagnostic(`${what} after ${Date.now() - sinceMs} ms`);
    };
    const rolledOut = (): Promise<string> => node.kubectl('rollout', 'status', 'deployment', name, '--timeout=60s');
    const inEngine = async (state: string): Promise<number> =>
      (await node.containers('web')).filter((each) => each.container === 'app' && each.state === state).length;

    await node.apply(deployment('1'));
    await timed('available', rolledOut);
    assert.equal(await inEngine('running'), 10);
    await node.apply(deployment('2'));
    await timed('updated', rolledOut);
    await node.until('the old pods are gone', async () => (await node.containers('web')).length === 20);
    for (const { id, container } of await node.containers('web')) {
      if (container === 'app') assert.ok((await node.agent.engine.inspect(id)).Config.Env.includes('RELEASE=2'));
    }
    await node.kubectl('scale', 'deployment', name, '--replicas=3');
    await timed('scaled', () => node.until('3 are left', async () => (await node.containers('web')).length === 6));
    await node.kubectl('delete', 'deployment', name);
    await timed('deleted', () => node.until('none is left in the engine', async () => (await node.containers('web')).length === 0));
    await node.until('none is left in the API', () => node.pods.list().every(({ metadata }) => !metadata?.name?.startsWith(name)));
    await node.until('nor on disk', async () => (await node.agent.traces('web')).length === 0);
  });

  test('show addresses, conditions and what runs', async () => {
    await node.create('shown', pod());
    const { status } = await node.up('shown');
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
    assert.ok(status?.hostIP && addresses.includes(status.hostIP), status?.hostIP);
    assert.equal(node.nodes.get(node.name)?.status?.addresses?.[0]?.address, status.hostIP);
    assert.match(status.podIP ?? '', /^10\./);
    assert.deepEqual(status.podIPs, [{ ip: status.podIP }]);
    assert.deepEqual(
      status.conditions?.map(({ type, status: is }) => `${type} ${is}`),
      ['PodReadyToStartContainers True', 'Initialized True', 'Ready True', 'ContainersReady True', 'PodScheduled True'],
    );
    assert.ok(status.startTime);
    const [container] = status.containerStatuses ?? [];
    assert.match(container?.containerID ?? '', /^docker:\/\/[0-9a-f]{64}$/);
    assert.match(container?.imageID ?? '', /^docker(-pullable)?:\/\//);
    assert.deepEqual([container?.ready, container?.started, container?.restartCount], [true, true, 0]);
    assert.ok(container?.state?.running?.startedAt);
    const [, running] = await node.containers('shown');
    assert.equal(container?.containerID, `docker://${running?.id}`);
  });

  test('count a restart after a kill from outside, and say how the last one ended', async () => {
    await node.create('killed', pod());
    await node.up('killed');
    const [, container] = await node.containers('killed');
    assert.ok(container);
    await node.agent.engine.kill(container.id);
    const { status } = await node.becomes('killed', 'restarted', (now) => {
      const of = now.status?.containerStatuses?.[0];
      return of?.restartCount === 1 && of.ready;
    });
    const ended = status?.containerStatuses?.[0]?.lastState?.terminated;
    assert.deepEqual([ended?.exitCode, ended?.reason, ended?.containerID], [137, 'Error', `docker://${container.id}`]);
  });

  test('that are to run once end as Succeeded or Failed, with an exit code and what it means', async () => {
    await node.create('once', pod([app('exit 0')], { restartPolicy: 'Never' }));
    await node.create('fails', pod([app('exit 3')], { restartPolicy: 'Never' }));
    const { status } = await node.phase('once', 'Succeeded');
    const ended = status?.containerStatuses?.[0]?.state?.terminated;
    assert.deepEqual([ended?.exitCode, ended?.reason], [0, 'Completed']);
    // Whether the sandbox has gone already is not for this test.
    const conditions = status?.conditions?.filter(({ type }) => type !== 'PodReadyToStartContainers');
    assert.deepEqual(
      conditions?.map(({ type, status: is, reason = '' }) => `${type} ${is} ${reason}`),
      ['Initialized True PodCompleted', 'Ready False PodCompleted', 'ContainersReady False PodCompleted', 'PodScheduled True '],
    );
    const failed = (await node.phase('fails', 'Failed')).status?.containerStatuses?.[0]?.state?.terminated;
    assert.deepEqual([failed?.exitCode, failed?.reason], [3, 'Error']);
    await node.kubectl('delete', 'pod', node.called('once'), node.called('fails'));
    await node.until('nothing of them is left in the engine', async () => (await node.containers('once')).length === 0);
  });

  test('find the token of their service account, the CA and their namespace where clients look for them', async () => {
    const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
    const script = `cd ${directory} && test -s token && grep -q CERTIFICATE ca.crt && test "$(cat namespace)" = ${node.namespace}`;
    await node.create('account', pod([app(script)], { restartPolicy: 'Never' }));
    await node.phase('account', 'Succeeded');
    await node.kubectl('delete', 'pod', node.called('account'));
  });

  test('that are deleted get their grace period, and are gone when kubectl says so', async () => {
    const stubborn = app("trap '' TERM; while :; do sleep 1; done");
    await node.create('graceful', pod([stubborn], { terminationGracePeriodSeconds: 3 }));
    await node.up('graceful');
    const sinceMs = Date.now();
    await node.kubectl('delete', 'pod', node.called('graceful'));
    const tookMs = Date.now() - sinceMs;
    // Not the 30 s of a pod that asks for nothing; kubectl and the API server take some on a busy machine.
    assert.ok(tookMs >= 2_900 && tookMs < 15_000, `${tookMs} ms`);
    assert.deepEqual(await node.containers('graceful'), []);
    assert.equal(
      node.agent.engine.events.filter(({ action, pod: of }) => action === 'kill' && of === node.called('graceful')).length > 0,
      true,
    );
  });

  test('that are deleted once more with a shorter grace period end sooner', async () => {
    await node.create('hurried', pod([app("trap '' TERM; while :; do sleep 1; done")], { terminationGracePeriodSeconds: 300 }));
    await node.up('hurried');
    await node.kubectl('delete', 'pod', node.called('hurried'), '--wait=false');
    await node.until('it is told to stop', () =>
      node.agent.engine.events.some(({ action, pod: of }) => action === 'kill' && of === node.called('hurried')),
    );
    const sinceMs = Date.now();
    await node.kubectl('delete', 'pod', node.called('hurried'), '--grace-period=1');
    assert.ok(Date.now() - sinceMs < 20_000, `${Date.now() - sinceMs} ms`);
    assert.deepEqual(await node.containers('hurried'), []);
  });

  test('that are deleted by force are gone at once, and soon also from the engine', async () => {
    await node.create('forced', pod([app("trap '' TERM; while :; do sleep 1; done")], { terminationGracePeriodSeconds: 2 }));
    await node.up('forced');
    await node.kubectl('delete', 'pod', node.called('forced'), '--grace-period=0', '--force');
    await node.gone('forced');
    await node.until('nothing of it is left in the engine', async () => (await node.containers('forced')).length === 0);
    // The name is free again.
    await node.create('forced', pod());
    await node.up('forced');
  });

  test('with a finalizer end, show that, and go when the finalizer goes', async () => {
    await node.create('final', pod(), { finalizers: ['example.com/hold'] });
    await node.up('final');
    await node.kubectl('delete', 'pod', node.called('final'), '--wait=false');
    await node.until('nothing of it is left in the engine', async () => (await node.containers('final')).length === 0);
    const ended = await node.becomes('final', 'over', ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed');
    assert.equal(ended.status?.containerStatuses?.[0]?.ready, false);
    assert.ok(ended.status?.containerStatuses?.[0]?.state?.terminated);
    await node.kubectl('patch', 'pod', node.called('final'), '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
    await node.gone('final');
  });

  test('that do not belong here, though they name this node, are refused', async () => {
    const misplaced = node.called('misplaced');
    await node.create('misplaced', pod([app()], { nodeName: node.name, nodeSelector: { disk: 'fast' } }));
    const { status } = await node.phase('misplaced', 'Failed');
    assert.equal(status?.reason, 'NodeAffinity');
    assert.equal(status?.message, "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector");
    await node.event(misplaced, 'NodeAffinity', ({ type }) => type === 'Warning');
    assert.deepEqual(await node.containers('misplaced'), []);
    await node.kubectl('delete', 'pod', misplaced);
    await node.gone('misplaced');
  });

  test('tell their story in events, as kubectl describe shows', async () => {
    await node.create('told', pod());
    await node.up('told');
    const [name, loop, bad] = [node.called('told'), node.called('loop'), node.called('bad')];
    for (const reason of ['Pulled', 'Created', 'Started']) await node.event(name, reason);
    const described = await node.kubectl('describe', 'pod', name);
    const story = [...described.matchAll(/^ +(Normal|Warning) +(\w+) .*$/gm)].map(([, type, reason]) => `${type} ${reason}`);
    assert.deepEqual(story, ['Normal Scheduled', 'Normal Pulled', 'Normal Created', 'Normal Started']);
    assert.match(described, /Container image ".*" already present on machine/);
    assert.match(described, /Created container app/);
    assert.match(described, /Started container app/);
    await node.kubectl('delete', 'pod', name);
    const killing = await node.event(name, 'Killing');
    assert.equal(killing.message, 'Stopping container app');
    assert.deepEqual(killing.source, { component: 'kubelet', host: node.name });
    assert.equal(killing.involvedObject?.fieldPath, 'spec.containers{app}');

    await node.create('loop', pod([app('exit 1')]));
    await node.becomes('loop', 'backing off', (now) => now.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff');
    const backOff = await node.event(loop, 'BackOff');
    assert.deepEqual([backOff.type, backOff.message], ['Warning', 'Back-off restarting failed container']);

    await node.create('bad', pod([app(undefined, { image: '127.0.0.1:1/nothing:1' })]));
    const failed = await node.event(bad, 'Failed', ({ message }) => message === 'Error: ErrImagePull');
    assert.equal(failed.type, 'Warning');
    await node.event(bad, 'Failed', ({ message }) => message?.startsWith('Failed to pull image "127.0.0.1:1/nothing:1": ') ?? false);
    await node.event(bad, 'Pulling', ({ message }) => message === 'Pulling image "127.0.0.1:1/nothing:1"');
    await node.becomes('bad', 'waiting for its image', (now) =>
      ['ErrImagePull', 'ImagePullBackOff'].includes(now.status?.containerStatuses?.[0]?.state?.waiting?.reason ?? ''),
    );
    assert.match(await node.kubectl('describe', 'pod', bad), /Failed .*Error: ErrImagePull/);
  });
});
