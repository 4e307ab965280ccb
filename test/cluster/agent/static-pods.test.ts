import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { type ClusterNode, isPodReady } from './cluster-node.ts';
import { sharedNode } from './shared-node.ts';

const MIRROR = 'kubernetes.io/config.mirror';

describe('static pods of a node', { timeout: 150_000 }, () => {
  const shared = sharedNode();
  let node: ClusterNode;
  before(async () => {
    node = await shared.start();
  });
  after(() => shared.stop());

  /** Static pods are named after their node. */
  const named = (name: string): string => `${name}-${node.name}`;
  const declare = (name: string, env = '1'): Promise<void> =>
    node.agent.declare(name, pod([app(stays, { env: [{ name: 'RELEASE', value: env }] })]), { metadata: { namespace: node.namespace } });
  const running = async (name: string): Promise<readonly string[]> =>
    (await node.containers(name)).filter(({ state }) => state === 'running').map(({ id }) => id);

  test('have a mirror pod that shows how they are', async () => {
    await declare('shown');
    const { metadata, spec, status } = await node.up(named('shown'));
    const [sandbox, container] = await node.containers('shown');
    assert.equal(status?.phase, 'Running');
    assert.equal(status?.containerStatuses?.[0]?.containerID, `docker://${container?.id}`);
    assert.ok(status?.podIP && status.hostIP);
    assert.equal(spec?.nodeName, node.name);
    assert.equal(metadata?.annotations?.['kubernetes.io/config.source'], 'file');
    assert.ok(metadata?.annotations?.[MIRROR]);
    assert.equal(metadata.annotations[MIRROR], metadata.annotations['kubernetes.io/config.hash']);
    // Two objects: the container belongs to the static pod.
    assert.notEqual(sandbox?.uid, metadata.uid);
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name, uid }) => ({ kind, name, uid })),
      [{ kind: 'Node', name: node.name, uid: node.nodes.get(node.name)?.metadata?.uid }],
    );
  });

  test('are not touched when somebody deletes their mirror pod, and get a new one', async () => {
    await declare('kept');
    const { metadata: first } = await node.up(named('kept'));
    const before = await running('kept');
    await node.kubectl('delete', 'pod', node.called(named('kept')), '--wait=false');
    const second = await node.becomes(named('kept'), 'there again, Ready', (now) => now.metadata?.uid !== first?.uid && isPodReady(now));
    assert.ok(second.metadata?.annotations?.[MIRROR]);
    assert.deepEqual(await running('kept'), before);
    assert.equal(second.status?.containerStatuses?.[0]?.restartCount, 0);
  });

  test('keep their name when somebody else takes the place of their mirror pod: that one waits, and runs when the manifest is gone', async () => {
    const name = named('owned');
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: node.called(name) },
      spec: pod([app(stays)], { nodeName: node.name, terminationGracePeriodSeconds: 0 }),
    };
    await declare('owned');
    await node.up(name);
    const [first] = await running('owned');
    // The agent would be quicker to make the mirror pod again.
    process.kill(node.agent.pid, 'SIGSTOP');
    await node.kubectl('delete', 'pod', node.called(name), '--force', '--grace-period=0');
    await node.apply(object);
    process.kill(node.agent.pid, 'SIGCONT');
    await node.event(node.called(name), 'NameConflict');
    await declare('owned', '2');
    await node.until('the edited one runs', async () => {
      const [sandbox, container, ...more] = await running('owned');
      return sandbox !== undefined && container !== undefined && more.length === 0 && sandbox !== first && container !== first;
    });
    const { metadata, status } = await node.becomes(name, 'Pending', (now) => now.status?.phase === 'Pending');
    assert.equal(metadata?.annotations?.[MIRROR], undefined);
    assert.ok(
      (await node.containers('owned')).every(({ uid }) => uid !== metadata?.uid),
      JSON.stringify(status),
    );
    await node.agent.remove('owned');
    await node.up(name);
    assert.ok((await node.containers('owned')).every(({ uid }) => uid === metadata?.uid));
    await node.kubectl('delete', 'pod', node.called(name));
  });

  test('that change get a new mirror pod, which shows the new ones', async () => {
    await declare('edited');
    const first = await node.up(named('edited'));
    await declare('edited', '2');
    const second = await node.becomes(named('edited'), 'the new one, Ready', (now) => {
      return now.metadata?.uid !== first.metadata?.uid && isPodReady(now);
    });
    assert.deepEqual(second.spec?.containers[0]?.env, [{ name: 'RELEASE', value: '2' }]);
    assert.notEqual(second.metadata?.annotations?.[MIRROR], first.metadata?.annotations?.[MIRROR]);
    assert.notEqual(second.status?.containerStatuses?.[0]?.containerID, first.status?.containerStatuses?.[0]?.containerID);
  });

  test('may refer to objects of the manifest directory, which their mirror pod does not show', async () => {
    const { namespace } = node;
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'beside', namespace }, data: { level: 'one' } };
    await node.agent.write('beside.yaml', JSON.stringify(configMap));
    const env = [{ name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'beside', key: 'level' } } }];
    const volumes = [{ name: 'c', configMap: { name: 'beside' } }];
    const reads = app(`test "$LEVEL" = one && test "$(cat /c/level)" = one || exit 1; ${stays}`, {
      env,
      volumeMounts: [{ name: 'c', mountPath: '/c' }],
    });
    await node.agent.declare('refers', pod([reads], { volumes }), { metadata: { namespace } });
    const { spec, status } = await node.up(named('refers'));
    assert.equal(status?.containerStatuses?.[0]?.restartCount, 0);
    assert.deepEqual(
      spec?.volumes?.find(({ name }) => name === 'c'),
      { name: 'c', emptyDir: {} },
    );
    assert.deepEqual(spec?.containers[0]?.env, [{ name: 'LEVEL' }]);
  });

  test('that go take their mirror pod along', async () => {
    await declare('going');
    await node.up(named('going'));
    await node.agent.remove('going');
    await node.gone(named('going'));
    await node.until('nothing of it is left in the engine', async () => (await node.containers('going')).length === 0);
  });

  test('that went while the agent was away have no mirror pod once it is back', async () => {
    await declare('vanishing');
    await declare('staying');
    await node.up(named('vanishing'));
    const before = await node.up(named('staying'));
    await node.agent.kill('SIGKILL');
    await node.agent.remove('vanishing');
    node.run();
    await node.gone(named('vanishing'));
    await node.until('nothing of it is left in the engine', async () => (await node.containers('vanishing')).length === 0);
    assert.deepEqual(node.pod(named('staying')), before);
  });
});
