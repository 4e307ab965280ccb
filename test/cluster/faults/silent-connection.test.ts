import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubeconfigOf, nodeKubeconfig } from '../../builders/cluster-under-test.ts';
import { loadKubeconfig } from '../../../src/cluster/kube/load-kubeconfig.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { TcpProxy } from '../../fakes/tcp-proxy.ts';
import { NodeInTrouble } from './node-in-trouble.ts';

describe('a connection to the API server that goes silent without closing', { timeout: 240_000 }, () => {
  test('is noticed and dialled again within 45 s, with the node Ready all the time', async (t) => {
    const { server } = await loadKubeconfig(kubeconfigOf('admin'), { clock: systemClock, log: silentLogger });
    const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(new URL(server).port) });
    t.after(() => proxy.stop());
    const node = await NodeInTrouble.prepare(t);
    node.run(`--kubeconfig=${await node.kubeconfigAt(proxy.port, await nodeKubeconfig(node.name))}`);
    await node.ready();
    await node.create('before');
    await node.up('before');
    const accepted = proxy.accepted;

    proxy.silence();
    const silentAt = performance.now();
    await node.create('meanwhile');
    await node.remove('before');
    await node.until('a connection was made anew', () => proxy.accepted > accepted);
    const dialledMs = Math.round(performance.now() - silentAt);
    await node.up('meanwhile');
    const upMs = Math.round(performance.now() - silentAt);
    await node.until('the deleted pod is gone', () => node.pod('before') === undefined);
    t.diagnostic(`dialled again after ${dialledMs} ms, the pod that was bound meanwhile is Ready after ${upMs} ms`);
    assert.ok(upMs < 45_000, `${upMs} ms`);
    assert.deepEqual(node.readiness.map(({ ready }) => ready).slice(-1), [true]);
    assert.equal(node.readiness.filter(({ ready, atMs }) => !ready && atMs > silentAt).length, 0);
  });
});
