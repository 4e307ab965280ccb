import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Terminal } from '../../builders/terminal.ts';
import { AgentUnderTest, launcher, NODE } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

interface ServedPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly nodeName: string; readonly tolerations: readonly object[] };
}

/** What the agent has, as it tells on its local socket. */
async function servedPods(agent: AgentUnderTest): Promise<readonly ServedPod[]> {
  const asked = request({ socketPath: join(agent.rootDir, 'rxlet.sock'), path: '/pods' }).end();
  const [response] = await once(asked, 'response');
  return (JSON.parse(await text(response)) as { readonly items: readonly ServedPod[] }).items;
}

describe('the agent as it is started', { timeout: 300_000 }, () => {
  test('gives a static pod its name, namespace, node, annotations and toleration', async (t) => {
    const agent = await AgentUnderTest.start(t, '--hostname-override=Node-9');
    const sinceMs = Date.now();
    await agent.write('web.yaml', agent.manifest('web', pod(), { annotations: { note: 'hello' } }));
    const name = `${agent.prefix}web-node-9`;
    const running = await agent.until('it runs', async () =>
      (await agent.engine.containers()).find((each) => each.pod === name && each.container === 'app'),
    );
    await agent.logged('it serves', ({ msg, listener }) => msg === 'serving' && listener === 'local');
    const [served, ...others] = await servedPods(agent);
    assert.ok(served);
    assert.deepEqual(others, []);
    const { 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.seen': seen, ...annotations } = served.metadata.annotations;
    assert.deepEqual(
      [served.metadata.name, served.metadata.namespace, served.spec.nodeName, served.metadata.uid],
      [name, 'default', 'node-9', running.uid],
    );
    assert.deepEqual(annotations, { note: 'hello', 'kubernetes.io/config.source': 'file' });
    assert.equal(hash, running.uid);
    assert.ok(Date.parse(seen ?? '') >= sinceMs - 1_000 && Date.parse(seen ?? '') <= Date.now(), seen);
    assert.deepEqual(served.spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
  });

  test('takes its settings from --config, a flag before the file', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const asked: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      asked.push(String(headers['x-from']));
      response.end(agent.manifest('remote', pod()));
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      // The flag names another one.
      staticPodPath: './nowhere',
      staticPodURL: `http://127.0.0.1:${address.port}/`,
      staticPodURLHeader: { 'X-From': ['the file'] },
      httpCheckFrequency: '100ms',
      fileCheckFrequency: '500ms',
    };
    const file = join(agent.dir, 'kubelet.json');
    await writeFile(file, JSON.stringify(config));
    await agent.declare('local', pod());
    agent.run(`--config=${file}`);
    await agent.up('remote');
    await agent.up('local');
    assert.deepEqual(new Set(asked), new Set(['the file']));
    const before = asked.length;
    const from = agent.lines.length;
    await agent.declare('clock', pod([app('sleep 2')], { restartPolicy: 'Never' }));
    await agent.phase('clock', 'Succeeded', from);
    assert.ok(asked.length - before >= 10, `asked ${asked.length - before} times in more than 2 s`);
  });

  test('on a terminal logs text, and Ctrl-C ends it in good order and leaves the pods', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    await agent.declare('web', pod([app(stays)]));
    const flags = [
      `--pod-manifest-path=${agent.manifests}`,
      `--root-dir=${agent.rootDir}`,
      ...agent.engine.agentFlags,
      `--hostname-override=${NODE}`,
      `--port=${agent.port}`,
      '--healthz-port=0',
      ...(agent.cgroups ? [`--cgroup-root=${agent.cgroups.path}`] : []),
    ];
    const terminal = await Terminal.open(
      t,
      ['sh', '-c', `trap : INT; ${launcher} ${flags.join(' ')}; echo "ended with $?"; exec sleep 1000`],
      {
        columns: 200,
        rows: 50,
      },
    );
    try {
      const running = await agent.up('web');
      await terminal.shows(/^I\d{4} [\d:.]+ pod phase changed pod="default\/\S+-web-n1" .* to="Running" logger="reconcile"$/m);
      await terminal.type('', 'C-c');
      const screen = await terminal.shows(/ended with \d+/);
      assert.match(screen, /signal, stopping; again to exit at once signal="SIGINT"\n.*stopped; the pods stay as they are\nended with 0$/);
      assert.ok(!screen.includes('{"level"'));
      assert.deepEqual(await agent.up('web'), running);
    } finally {
      // Before what the agent has is looked at: it would go on in there.
      await terminal.close();
    }
  });
});
