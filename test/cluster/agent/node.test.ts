import assert from 'node:assert/strict';
import { cpus, totalmem } from 'node:os';
import { describe, test } from 'node:test';
import { nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { testImage } from '../../builders/docker-under-test.ts';
import { app, pod } from '../../integration/agent/pod-specs.ts';
import { ClusterNode } from './cluster-node.ts';

describe('the agent as a node', { timeout: 200_000 }, () => {
  test('is Ready soon after its start, says what it is, and holds a lease', async (t) => {
    const node = await ClusterNode.prepare(t);
    const kubeconfig = await nodeKubeconfig(node.name);
    const startedAtMs = node.run(`--kubeconfig=${kubeconfig}`, '--node-labels=tier=test', '--max-pods=42');
    const tookMs = (await node.ready()) - startedAtMs;
    t.diagnostic(`Ready ${tookMs} ms after the start of the process`);
    // A second on a quiet machine; a look at the node's status that is missed costs ten.
    assert.ok(tookMs < 6_000, `${tookMs} ms`);
    assert.match(await node.kubectl('get', 'nodes', '--no-headers'), new RegExp(`^${node.name} +Ready `, 'm'));

    const { metadata, status } = node.nodes.get(node.name) ?? {};
    assert.equal(metadata?.labels?.['kubernetes.io/hostname'], node.name);
    assert.equal(metadata?.labels?.['kubernetes.io/os'], 'linux');
    assert.equal(metadata?.labels?.['tier'], 'test');
    assert.equal(status?.capacity?.['pods'], '42');
    assert.equal(status?.capacity?.['cpu'], String(cpus().length));
    const memoryKi = Number.parseInt(String(status?.capacity?.['memory']), 10);
    assert.ok(Math.abs(memoryKi * 1024 - totalmem()) < 1024 ** 2, `${memoryKi} Ki of ${totalmem()} bytes`);
    assert.deepEqual(Object.keys(status?.allocatable ?? {}).sort(), Object.keys(status?.capacity ?? {}).sort());
    assert.deepEqual(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`).sort(), [
      'DiskPressure False',
      'MemoryPressure False',
      'PIDPressure False',
      'Ready True',
    ]);
    assert.deepEqual(
      status?.addresses?.map(({ type }) => type),
      ['InternalIP', 'Hostname'],
    );
    assert.match(status?.nodeInfo?.containerRuntimeVersion ?? '', /^docker:\/\/\d+\.\d+/);
    assert.equal(status?.nodeInfo?.operatingSystem, 'linux');
    assert.ok(status?.nodeInfo?.kernelVersion && status.nodeInfo.osImage && status.nodeInfo.bootID);
    assert.ok(status.images?.some(({ names }) => names?.includes(testImage)));

    // It is written beside the node's status, and may come after it.
    await node.agent.logged('of the lease', ({ msg }) => msg === 'node lease renewed');
    const lease = JSON.parse(await node.kubectl('get', 'lease', node.name, '-n', 'kube-node-lease', '-o', 'json'));
    assert.equal(lease.spec.holderIdentity, node.name);
    assert.equal(lease.spec.leaseDurationSeconds, 40);
    assert.deepEqual(
      lease.metadata.ownerReferences.map(({ kind, name, uid }: Record<string, string>) => ({ kind, name, uid })),
      [{ kind: 'Node', name: node.name, uid: metadata?.uid }],
    );
    for (const reason of ['Starting', 'NodeHasSufficientMemory', 'NodeReady']) await node.event(node.name, reason);
    assert.match(await node.kubectl('describe', 'node', node.name), /Starting kubelet\.[^]*NodeReady/);
  });

  test('leaves its pods running when it is told to stop, and finds them again', async (t) => {
    const node = await ClusterNode.start(t);
    await node.create('stays', pod());
    const before = await node.up('stays');
    const containers = await node.containers('stays');
    assert.equal(await node.agent.kill('SIGTERM'), 0);
    assert.deepEqual(await node.containers('stays'), containers);
    const from = node.agent.lines.length;
    node.run();
    await node.agent.logged('that the pod runs', ({ msg, pod: of }) => msg === 'pod phase changed' && String(of).endsWith('stays'), from);
    assert.deepEqual(await node.containers('stays'), containers);
    assert.deepEqual(node.pod('stays')?.status, before.status);
  });

  test('when it is killed with 5 pods running, restarts no container and changes no status', async (t) => {
    const node = await ClusterNode.start(t);
    const names = ['p0', 'p1', 'p2', 'p3', 'p4'];
    await node.apply(
      ...names.map((name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: node.called(name) }, spec: node.here(pod()) })),
    );
    for (const name of names) await node.up(name);
    const before = names.map((name) => node.pod(name)?.status);
    const containers = await node.agent.engine.containers();
    const [seen, heard, logged] = [node.pods.seen.length, node.agent.engine.events.length, node.agent.lines.length];

    await node.agent.kill('SIGKILL');
    const startedAtMs = node.run();
    const running = (line: { msg: string; to?: unknown }): boolean => line.msg === 'pod phase changed' && line.to === 'Running';
    await node.until('all pods are known to run', () => node.agent.lines.slice(logged).filter(running).length === names.length);
    // What the agent sends later than this it would send because something has changed: a new pod goes all the way meanwhile.
    await node.create('new', pod());
    await node.up('new');
    t.diagnostic(`a new pod is Ready ${Date.now() - startedAtMs} ms after the start of the process`);

    assert.deepEqual(
      names.map((name) => node.pod(name)?.status),
      before,
    );
    assert.deepEqual(
      node.pods.seen.slice(seen).filter(({ object }) => object.metadata?.name !== node.called('new')),
      [],
    );
    assert.deepEqual(
      node.agent.engine.events.slice(heard).filter(({ pod: of }) => of !== node.called('new')),
      [],
    );
    assert.deepEqual(
      (await node.agent.engine.containers()).filter(({ pod: of }) => of !== node.called('new')),
      containers,
    );
  });

  test('cordoned, stays so over a restart; drained, keeps only what a DaemonSet owns', async (t) => {
    const node = await ClusterNode.start(t);
    const template = (name: string) => ({ metadata: { labels: { app: name } }, spec: node.here(pod()) });
    const owner = (kind: string, name: string, spec: object) => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name: node.called(name) },
      spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
    });
    await node.apply(owner('DaemonSet', 'daemon', {}), owner('Deployment', 'web', { replicas: 3 }));
    await node.create('bare', pod([app()], { volumes: [{ name: 'scratch', emptyDir: {} }] }));
    await node.kubectl('rollout', 'status', 'deployment', node.called('web'), '--timeout=60s');
    await node.kubectl('rollout', 'status', 'daemonset', node.called('daemon'), '--timeout=60s');
    await node.up('bare');

    await node.kubectl('cordon', node.name);
    await node.agent.kill('SIGTERM');
    await node.ready(node.run());
    assert.match(await node.kubectl('get', 'node', node.name), /Ready,SchedulingDisabled/);

    const sinceMs = Date.now();
    await node.kubectl('drain', node.name, '--ignore-daemonsets', '--force', '--delete-emptydir-data', '--timeout=60s');
    t.diagnostic(`drained in ${Date.now() - sinceMs} ms`);
    await node.until('only the pod of the DaemonSet runs in the engine', async () =>
      (await node.agent.engine.containers()).every(({ pod: of }) => of.startsWith(node.called('daemon'))),
    );
    assert.equal((await node.containers('daemon')).length, 2);
    await node.kubectl('uncordon', node.name);
    await node.kubectl('rollout', 'status', 'deployment', node.called('web'), '--timeout=60s');
    await node.kubectl('delete', 'daemonset,deployment', '--all');
    await node.until('nothing runs in the engine', async () => (await node.agent.engine.containers()).length === 0);
  });
});
