import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import type { ClusterNode } from './cluster-node.ts';
import { sharedNode } from './shared-node.ts';

const PAIRS = 10;
/** No one else on this machine listens there. */
const ADDRESS = '127.0.9.9';

describe('a node admits', { timeout: 250_000 }, () => {
  const shared = sharedNode();
  let node: ClusterNode;
  before(async () => {
    node = await shared.start();
  });
  after(() => shared.stop());

  const bound = (name: string, hostPort?: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: node.called(name) },
    spec: pod([app(stays, hostPort === undefined ? {} : { ports: [{ containerPort: 80, hostPort, hostIP: ADDRESS }] })], {
      nodeName: node.name,
      terminationGracePeriodSeconds: 0,
    }),
  });
  const each = <T>(make: (index: number) => T): readonly T[] => Array.from({ length: PAIRS }, (_, index) => make(index));
  /** Resolves once the API server's clock shows a later second than these pods have. */
  const aSecondLater = async (): Promise<void> => {
    const newest = (): string => node.pods.list().reduce((at, { metadata }) => (createdAt(metadata) > at ? createdAt(metadata) : at), '');
    await node.until('all are created', () => node.pods.list().length >= PAIRS);
    for (let round = 0; ; round++) {
      const name = node.called(`clock-${round}`);
      const { metadata } = JSON.parse(await node.kubectl('create', 'configmap', name, '-o', 'json')) as { metadata: Metadata };
      if (createdAt(metadata) > newest()) return;
    }
  };

  test('of two pods that want one host port the older, though the names say otherwise and it learns of all of them at once, under load', async () => {
    await node.agent.kill('SIGKILL');
    await node.apply(...each((i) => bound(`z-older-${i}`, 28_200 + i)));
    await aSecondLater();
    await node.apply(...each((i) => bound(`a-younger-${i}`, 28_200 + i)), ...each((i) => bound(`m-load-${i}`)));
    node.run();
    for (let i = 0; i < PAIRS; i++) {
      const { status } = await node.phase(`a-younger-${i}`, 'Failed');
      assert.equal(status?.reason, 'NodePorts');
      await node.up(`z-older-${i}`);
    }
    await node.kubectl('delete', 'pods', '--all', '--wait=false');
    await node.until('nothing is left in the engine', async () => (await node.containers('')).length === 0);
  });

  test('just one of pods that want one host port and come one by one while it is busy: the first', async () => {
    await node.apply(...each((i) => [bound(`first-${i}`, 28_200 + i), bound(`load-${i}`), bound(`second-${i}`, 28_200 + i)]).flat());
    for (let i = 0; i < PAIRS; i++) {
      await node.up(`first-${i}`);
      assert.equal((await node.phase(`second-${i}`, 'Failed')).status?.reason, 'NodePorts');
    }
  });

  test('a critical pod by ending another for it, which the API server is told of', async () => {
    await node.kubectl('delete', 'pods', '--all', '--wait=false');
    await node.until('nothing is left in the engine', async () => (await node.containers('')).length === 0);
    const cores = Number(await node.kubectl('get', 'node', node.name, '-o', 'jsonpath={.status.allocatable.cpu}'));
    const most = { resources: { requests: { cpu: String(cores * 0.75) } } };
    const asking = (over: object): ReturnType<typeof pod> => pod([app(stays, most)], { nodeName: node.name, ...over });
    await node.create('gives-way', asking({ terminationGracePeriodSeconds: 5 }));
    await node.up('gives-way');
    await node.create('critical', asking({ priorityClassName: 'system-cluster-critical' }));
    const { status } = await node.phase('gives-way', 'Failed');
    assert.deepEqual([status?.reason, status?.message], ['Preempting', 'Preempted in order to admit critical pod']);
    assert.equal(status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'TerminationByKubelet');
    await node.event(node.called('gives-way'), 'Preempting');
    await node.up('critical');
    await node.create('refused', asking({}));
    assert.match((await node.phase('refused', 'Failed')).status?.reason ?? '', /^OutOfcpu$/);
  });
});

interface Metadata {
  readonly creationTimestamp?: string | Date;
}

const createdAt = (metadata: Metadata | undefined): string => new Date(metadata?.creationTimestamp ?? 0).toISOString();
