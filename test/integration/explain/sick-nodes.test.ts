import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aCa } from '../../builders/a-pki.ts';
import { testEndpoint } from '../../builders/docker-under-test.ts';
import { smallFileSystem } from '../../builders/small-file-system.ts';
import { ScriptedApiServer } from '../../fakes/scripted-api-server.ts';
import { UnixSocketProxy } from '../../fakes/unix-socket-proxy.ts';
import { AgentUnderTest } from '../agent/agent-under-test.ts';
import { freePort } from '../agent/free-port.ts';
import { app, pod, stays } from '../agent/pod-specs.ts';
import { evictingAgent } from '../eviction/evicting-agent.ts';
import { writes } from '../eviction/fill-disk.ts';
import { explainingAgent, explainingAt, explainingOf } from './explaining-agent.ts';

/** What happens to pods because of their node, an agent each. */
describe('the first three lines of rxlet explain name the true cause on a node', { timeout: 180_000 }, () => {
  test('that has pods of higher priority (preempted), and no room for a resize (deferred)', async (t) => {
    const { agent, says } = await explainingAgent(t);
    const asking = (share: number, priority: number): ReturnType<typeof pod> =>
      pod([app(stays, { resources: { requests: { cpu: String(availableParallelism() * share) } } })], { priority });
    await agent.declare('low', asking(0.75, 1));
    await agent.up('low');
    await agent.declare('high', asking(0.5, 2));
    await agent.up('high');
    await says('low', /was preempted, ended to make room/);
    const metadata = { uid: randomUUID() };
    await agent.declare('grows', asking(0.2, 2), { metadata });
    await agent.up('grows');
    await agent.declare('grows', asking(0.8, 2), { metadata });
    await says('grows', /its resize is deferred until there is room/);
  });

  test('whose CNI network is not configured, or has no addresses left', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const [conf, bin] = [join(agent.dir, 'cni-conf'), join(agent.dir, 'cni-bin')];
    for (const directory of [conf, bin]) await mkdir(directory);
    const plugin = (answer: string, exitCode: number): string =>
      `#!/bin/sh\n[ "$CNI_COMMAND" = VERSION ] && exec echo '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'\necho '${answer}'; exit ${exitCode}\n`;
    await writeFile(join(bin, 'none-left'), plugin('{"cniVersion":"1.0.0","code":11,"msg":"no addresses left in the range"}', 1), {
      mode: 0o755,
    });
    await writeFile(join(bin, 'loopback'), plugin('{"cniVersion":"1.0.0"}', 0), { mode: 0o755 });
    agent.run('--network-plugin=cni', `--cni-conf-dir=${conf}`, `--cni-bin-dir=${bin}`, `--cni-cache-dir=${join(agent.dir, 'cni-cache')}`);
    const { says } = explainingOf(agent);
    await agent.declare('waits', pod());
    await says('waits', /the pods' network is not ready \(CNI\): .*cni config uninitialized/);
    await says('node', /node n1 is not ready.*cni config uninitialized/);
    await writeFile(join(conf, '10-x.conflist'), JSON.stringify({ cniVersion: '1.0.0', name: 'x', plugins: [{ type: 'none-left' }] }));
    await says('waits', /cannot be connected to the pods' network \(CNI\): .*no addresses left in the range/);
  });

  test('whose engine has gone', async (t) => {
    const proxy = await UnixSocketProxy.start(testEndpoint.replace('unix://', ''));
    t.after(() => proxy.close());
    const agent = await AgentUnderTest.start(t, `--docker-endpoint=unix://${proxy.path}`);
    const { says } = explainingOf(agent);
    await agent.declare('web', pod());
    await agent.up('web');
    proxy.cut();
    await says('web', /the container engine does not answer/);
    await says('node', /node n1 is not ready .*engine \(docker\) does not answer/);
    await agent.declare('late', pod());
    await says('late', /the container engine does not answer/);
  });

  test('whose API server refuses the mirror pod', async (t) => {
    const ca = aCa();
    const server = await ScriptedApiServer.start(ca.issue({ commonName: '127.0.0.1', hosts: ['127.0.0.1'] }));
    t.after(() => server.stop());
    const agent = await AgentUnderTest.prepare(t);
    void answer(server);
    const client = ca.issue({ commonName: 'system:node:n1', organizations: ['system:nodes'] });
    const data = (pem: string): string => Buffer.from(pem).toString('base64');
    const kubeconfig = join(agent.dir, 'kubeconfig');
    const cluster = { server: server.url, 'certificate-authority-data': data(ca.pem) };
    const user = { 'client-certificate-data': data(client.certificatePem), 'client-key-data': data(client.keyPem) };
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
    await writeFile(
      kubeconfig,
      JSON.stringify({ clusters: [{ name: 'a', cluster }], users: [{ name: 'a', user }], contexts, 'current-context': 'a' }),
    );
    agent.run(`--kubeconfig=${kubeconfig}`, '--register-node=false');
    const { says } = explainingOf(agent);
    await agent.declare('static', pod());
    await agent.up('static');
    await says('static', /its mirror pod is refused: .*violates PodSecurity/);
  });

  test('that evicts pods for its disk, and refuses new ones', async (t) => {
    const disk = await smallFileSystem(t, 64);
    const rootDir = join(disk.path, 'root');
    const agent = await evictingAgent(
      t,
      {
        rootDir,
        evictionHard: { 'nodefs.available': '30%' },
        evictionPressureTransitionPeriodMs: 60_000,
        port: await freePort(),
        healthzPort: 0,
      },
      'explain',
      'server',
    );
    const { says } = explainingAt(rootDir, (name) => name);
    const hog = agent.pod('hog', `dd if=/dev/zero of=/data/file bs=1M count=45 2>/dev/null; ${stays}`);
    agent.declare(hog);
    await says(hog.metadata.name, /was evicted: The node was low on resource: ephemeral-storage/);
    await says('node', /DiskPressure/);
    const late = agent.pod('late', stays);
    agent.declare(hog, late);
    await says(late.metadata.name, /may not run here: the node is short of room: .*DiskPressure/);
    await says(hog.metadata.name, /was evicted: The node was low on resource: ephemeral-storage/);
  });

  test('that evicts pods for disk limits of their own', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'rxlet-root-'));
    const rootDir = join(directory, 'root');
    const agent = await evictingAgent(t, { rootDir, port: await freePort(), healthzPort: 0 }, 'explain', 'server');
    t.after(() => rm(directory, { recursive: true }));
    const { says } = explainingAt(rootDir, (name) => name);
    const limit = (amount: string) => ({ 'ephemeral-storage': amount });
    // Wherever the engine has its containers: what they log counts.
    const logs = "head -c 8000000 /dev/zero | tr '\\0' x | fold -w 1000; ";
    const [volume, writer, together] = [
      agent.pod('volume', writes(8), { volumes: [{ name: 'data', emptyDir: { sizeLimit: '5Mi' } }] }),
      agent.pod('container', `${logs}${stays}`, {}, limit('5Mi')),
      agent.pod('together', writes(8), {}, limit('5Mi')),
    ];
    // The pod may leave more than its first container.
    const [app] = writer.spec.containers;
    assert.ok(app);
    const other = { ...app, name: 'other', command: ['sh', '-c', stays], resources: { limits: limit('500Mi') } };
    const container = { ...writer, spec: { ...writer.spec, containers: [app, other] } };
    agent.declare(volume, container, together);
    await Promise.all([
      says(volume.metadata.name, /was evicted: its volume data holds more than its sizeLimit of 5Mi/),
      says(container.metadata.name, /was evicted: container app wrote more than its limit of 5Mi of local disk/),
      says(together.metadata.name, /was evicted: its containers together wrote more than their limit of 5Mi of local disk/),
    ]);
    assert.deepEqual(agent.pressures(), []);
  });
});

/** An API server that has nothing and lets no pod be made. */
async function answer(server: ScriptedApiServer): Promise<void> {
  for (;;) {
    const request = await server.next();
    const { method, path } = request;
    if (request.query['watch'] !== undefined) {
      request.begin();
      // What is empty says nothing, and shows that the watch has begun.
      request.write('\n');
    } else if (method === 'POST' && path.endsWith('/pods'))
      request.answer(403, {
        kind: 'Status',
        code: 403,
        reason: 'Forbidden',
        message: 'pods "static-n1" is forbidden: violates PodSecurity "restricted:latest"',
      });
    else if (method === 'GET' && path.endsWith('/nodes'))
      request.answer(200, {
        kind: 'NodeList',
        metadata: { resourceVersion: '1' },
        items: [{ metadata: { name: 'n1', uid: 'node-uid', resourceVersion: '1' } }],
      });
    else if (method === 'GET' && path.endsWith('/nodes/n1'))
      request.answer(200, { kind: 'Node', metadata: { name: 'n1', uid: 'node-uid', resourceVersion: '1' } });
    else if (method === 'GET') request.answer(200, { kind: 'List', metadata: { resourceVersion: '1' }, items: [] });
    else request.answer(404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'not here' });
  }
}
