import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Subject } from 'rxjs';
import { capability } from '../../../src/network/capability.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { type NodeUnderTest, nodeUnderTest, runServices } from '../../builders/node-parts.ts';

const { signal } = new AbortController();
const web = aPod('web');

async function staged(t: TestContext, resolvConf = 'nameserver 192.0.2.53\n'): Promise<NodeUnderTest & { readonly rootDir: string }> {
  const rootDir = await mkdtemp(join(tmpdir(), 'network-'));
  t.after(() => rm(rootDir, { recursive: true }));
  const file = join(rootDir, 'resolv.conf');
  await writeFile(file, resolvConf);
  return { ...nodeUnderTest({ options: { rootDir, resolvConf: file } }), rootDir };
}

test('a sandbox bears the name of its pod and resolves names as the node does; without a cluster no name servers are missed', async (t) => {
  const { node, events } = await staged(t);
  assert.deepEqual(await capability(node).pod?.sandbox?.(web, new AbortController().signal), {
    hostname: 'web',
    dns: { servers: ['192.0.2.53'], searches: [], options: [] },
  });
  assert.deepEqual(events, []);
});

test('in a cluster the missing name servers are recorded', async (t) => {
  const { node, events } = await staged(t);
  await capability({ ...node, cluster: { ...node.cluster, exists: true } }).pod?.sandbox?.(web, new AbortController().signal);
  assert.deepEqual(
    events.map(({ about, reason }) => [about, reason]),
    [
      ['n1', 'MissingClusterDNS'],
      ['web', 'MissingClusterDNS'],
    ],
  );
});

test('a container mounts the hosts file, which is written once the addresses of the pod are known', async (t) => {
  const { node, rootDir } = await staged(t);
  const { pod } = capability(node);
  const hostPath = join(rootDir, 'pods', web.metadata.uid, 'etc-hosts');
  const mountsOf = async (podIps: readonly string[] | 'unknown'): Promise<unknown> =>
    (await pod?.container?.(web, aContainer('app'), { env: new Map(), podIps: async () => podIps }, signal))?.mounts;
  const mounts = [{ hostPath, containerPath: '/etc/hosts', readOnly: false }];
  assert.deepEqual(await mountsOf('unknown'), mounts);
  assert.equal(await readFile(hostPath, 'utf8'), '');
  assert.deepEqual(await mountsOf(['10.1.2.3']), mounts);
  assert.match(await readFile(hostPath, 'utf8'), /^10\.1\.2\.3\tweb$/m);
});

test('what pods cannot use of the resolver file of the node is recorded before the first pod', async (t) => {
  const { node, events } = await staged(t, 'search a b c d e f g\n');
  const recorded = new Promise<void>((resolve) => {
    const { services } = capability({ ...node, events: { record: (...about) => resolve(node.events.record(...about)) } });
    const running = runServices(services);
    t.after(() => running.stop());
    assert.deepEqual(
      services?.map(({ stage }) => stage),
      ['before pods', 'before pods'],
    );
  });
  await recorded;
  assert.deepEqual(
    events.map(({ about, reason }) => [about, reason]),
    [['n1', 'CheckLimitsForResolvConf']],
  );
});

test('every pod is woken when the network of the pods has changed', async (t) => {
  const { node, woken, declare } = await staged(t);
  const networkChanges = new Subject<void>();
  const running = runServices(capability({ ...node, engine: { ...node.engine, networkChanges } }).services);
  declare(web, aPod('db'));
  networkChanges.next();
  assert.deepEqual(woken, ['uid-web network changed', 'uid-db network changed']);
  await running.stop();
  networkChanges.next();
  assert.equal(woken.length, 2);
});
