import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { smallFileSystem } from '../../builders/small-file-system.ts';
import { app, pod, stays } from '../../integration/agent/pod-specs.ts';
import { ClusterNode, type NodeJson } from './cluster-node.ts';

const TAINT = 'node.kubernetes.io/disk-pressure';
const hasPressure = ({ status }: NodeJson): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'DiskPressure' && is === 'True') ?? false;
const isTainted = ({ spec }: NodeJson): boolean => spec?.taints?.some(({ key }) => key === TAINT) ?? false;

test(
  'a node whose disk a pod fills evicts it and says so; the cluster keeps pods away until there is room again',
  { timeout: 250_000 },
  async (t) => {
    const disk = await smallFileSystem(t, 64);
    const node = await ClusterNode.start(
      t,
      `--root-dir=${join(disk.path, 'root')}`,
      '--eviction-hard=nodefs.available<40%',
      '--eviction-pressure-transition-period=8s',
    );
    const data = { volumes: [{ name: 'data', emptyDir: {} }], terminationGracePeriodSeconds: 1 };
    const container = (script: string) => app(script, { volumeMounts: [{ name: 'data', mountPath: '/data' }] });
    await node.create('quiet', pod([container(stays)], data));
    await node.up('quiet');
    await node.create('hog', pod([container(`dd if=/dev/zero of=/data/file bs=1M count=45; ${stays}`)], data));

    const { status } = await node.phase('hog', 'Failed');
    assert.equal(status?.reason, 'Evicted');
    assert.match(status?.message ?? '', /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: /);
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([disruption?.reason, disruption?.message], ['TerminationByKubelet', status?.message]);
    const { message, metadata } = await node.event(node.called('hog'), 'Evicted');
    assert.equal(message, status?.message);
    assert.equal(metadata?.annotations?.['starved_resource'], 'ephemeral-storage');
    await node.event(node.name, 'EvictionThresholdMet');
    await node.event(node.name, 'NodeHasDiskPressure');

    await node.until('the taint is put', () => node.nodes.seen.some(({ object }) => hasPressure(object) && isTainted(object)));
    await node.until('the pressure and the taint leave', () => {
      const [last] = node.nodes.list();
      return last && !hasPressure(last) && !isTainted(last);
    });
    await node.event(node.name, 'NodeHasNoDiskPressure');
    assert.equal(node.pod('quiet')?.status?.phase, 'Running');
  },
);
