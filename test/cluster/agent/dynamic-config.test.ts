import assert from 'node:assert/strict';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DownloadedSource } from '../../../src/model/node-config.ts';
import { nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { ClusterNode } from './cluster-node.ts';

type Shown = Partial<Record<'assigned' | 'active' | 'lastKnownGood', { readonly configMap: DownloadedSource }>> & {
  readonly error?: string;
};

const kubelet = (maxPods: number): string =>
  JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods });

test(
  'a ConfigMap that Node.spec.configSource names is assigned, active, known to be good, and a bad one is rolled back',
  { timeout: 240_000 },
  async (t) => {
    const node = await ClusterNode.prepare(t);
    const dir = join(node.agent.dir, 'dynamic');
    const supervised = async (): Promise<void> => {
      // As a supervisor would: the agent ends by itself, and well.
      assert.equal(await node.agent.exited(), 0);
      node.run();
    };
    const give = (maxPods: number): Promise<void> =>
      node.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'node-config' }, data: { kubelet: kubelet(maxPods) } });
    const name = (configSource: object | null): Promise<string> =>
      node.kubectl('patch', 'node', node.name, '--type=merge', '-p', JSON.stringify({ spec: { configSource } }));
    const config = (): Shown => (node.nodes.get(node.name)?.status?.config ?? {}) as Shown;
    const versions = () =>
      Object.fromEntries(Object.entries(config()).map(([what, of]) => [what, typeof of === 'string' ? of : of.configMap.resourceVersion]));
    const until = (what: string, is: () => boolean): Promise<boolean> => node.until(what, () => is() || undefined);
    const pods = (): string | undefined => node.nodes.get(node.name)?.status?.capacity?.['pods'];

    node.run(`--kubeconfig=${await nodeKubeconfig(node.name)}`, '--cluster-dns=10.96.0.10', `--dynamic-config-dir=${dir}`);
    await node.ready();
    assert.deepEqual(config(), {});

    await give(42);
    await name({ configMap: { namespace: node.namespace, name: 'node-config', kubeletConfigKey: 'kubelet' } });
    await supervised();
    await until('the ConfigMap is active', () => config().active !== undefined && pods() === '42');
    const first = config().assigned?.configMap;
    assert.equal(first?.name, 'node-config');
    assert.ok(first.uid && first.resourceVersion);
    assert.deepEqual(config(), { assigned: { configMap: first }, active: { configMap: first } });
    await node.event(node.name, 'KubeletConfigChanged');

    const longAgo = Date.now() / 1000 - 11 * 60;
    await utimes(join(dir, 'store/meta/assigned'), longAgo, longAgo);
    await until('it is known to be good', () => config().lastKnownGood !== undefined);
    assert.deepEqual(config().lastKnownGood, { configMap: first });

    await give(-1);
    await supervised();
    await until('the bad one is rolled back', () => config().error !== undefined);
    const { assigned, ...inUse } = versions();
    assert.notEqual(assigned, first.resourceVersion);
    assert.deepEqual(inUse, {
      active: first.resourceVersion,
      lastKnownGood: first.resourceVersion,
      error: 'failed to validate config, see Kubelet log for details',
    });
    assert.equal(pods(), '42');

    await name(null);
    await supervised();
    await until("the node's own is active", () => Object.keys(config()).length === 0 && pods() === '110');
  },
);
