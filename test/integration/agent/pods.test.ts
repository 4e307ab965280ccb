import assert from 'node:assert/strict';
import { readFile, readdir, readlink } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';
import { inside } from './exec-in.ts';
import { app, pod, stays } from './pod-specs.ts';

describe('pods of a manifest directory', { timeout: 300_000 }, () => {
  test('come up as a sandbox and containers with the names and labels that a kubelet gives them', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('web', pod(), { metadata: { labels: { tier: 'front' }, annotations: { note: 'hello' } } });
    const { POD, app: web } = await agent.up('web');
    assert.ok(POD && web);
    assert.match(web.uid, /^[0-9a-f]{32}$/);
    assert.equal(POD.name, `k8s_POD_${agent.pod('web')}_default_${web.uid}_0`);
    assert.equal(web.name, `k8s_app_${agent.pod('web')}_default_${web.uid}_0`);

    const sandbox = await agent.engine.inspect(POD.id);
    const { Labels } = (await agent.engine.inspect(web.id)).Config;
    assert.equal(sandbox.Config.Labels['tier'], 'front');
    assert.equal(sandbox.Config.Labels['annotation.note'], 'hello');
    assert.equal(sandbox.Config.Labels['annotation.kubernetes.io/config.source'], 'file');
    assert.equal(Labels['io.kubernetes.container.name'], 'app');
    assert.equal(Labels['io.kubernetes.pod.name'], agent.pod('web'));
    assert.equal(Labels['io.kubernetes.pod.namespace'], 'default');
    assert.equal(Labels['io.kubernetes.pod.uid'], web.uid);
    assert.equal(Labels['annotation.io.kubernetes.container.restartCount'], '0');
    assert.equal(Labels['annotation.io.kubernetes.pod.terminationGracePeriod'], '5');
    assert.match(Labels['annotation.io.kubernetes.container.hash'] ?? '', /^[0-9a-f]+$/);
    await agent.phase('web', 'Running');
  });

  test('share network, IPC and host name among their containers, and with no other pod', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const server = app('exec httpd -f -p 8000 -h /etc', { name: 'server' });
    await agent.declare('pair', pod([server, app()]));
    await agent.declare('other', pod());
    const { server: listening, app: client } = await agent.up('pair', ['server', 'app']);
    const { app: stranger } = await agent.up('other');
    assert.ok(listening && client && stranger);
    for (const { id } of [listening, client]) {
      assert.equal(await inside(id, 'hostname'), agent.pod('pair'));
    }
    assert.match(await inside(client.id, 'wget -q -O - http://127.0.0.1:8000/passwd'), /root/);
    await assert.rejects(inside(stranger.id, 'wget -q -O - -T 5 http://127.0.0.1:8000/passwd'));
    const namespaceOf = (id: string): Promise<string> => inside(id, 'readlink /proc/self/ns/ipc; readlink /proc/self/ns/net');
    assert.equal(await namespaceOf(client.id), await namespaceOf(listening.id));
    assert.notEqual(await namespaceOf(client.id), await namespaceOf(stranger.id));
  });

  test('give containers their environment, working directory, arguments and resource limits', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare(
      'rich',
      pod(
        [
          app(stays, {
            workingDir: '/tmp',
            env: [
              { name: 'COLOUR', value: 'red' },
              { name: 'BOTH', value: '$(COLOUR) and $$(COLOUR)' },
              { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
            ],
            resources: { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '250m', memory: '32Mi' } },
          }),
        ],
        { hostname: 'pearl' },
      ),
    );
    const { app: rich } = await agent.up('rich');
    assert.ok(rich);
    const { HostConfig } = await agent.engine.inspect(rich.id);
    assert.equal(HostConfig.Memory, 32 << 20);
    assert.equal(HostConfig.CpuShares, 102);
    assert.deepEqual([HostConfig.CpuQuota, HostConfig.CpuPeriod], [25_000, 100_000]);
    assert.equal(
      await inside(rich.id, 'echo $COLOUR, $BOTH, $NAME, $LIMIT, $PWD, $(hostname)'),
      `red, red and $(COLOUR), ${agent.pod('rich')}, 32, /tmp, pearl`,
    );
  });

  test('keep an emptyDir over restarts of their containers, shared among them, and lose it at their end', async (t) => {
    const agent = await AgentUnderTest.start(t);
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    await agent.declare(
      'store',
      pod(
        [
          app(`echo start >> /data/log; ${stays}`, { volumeMounts }),
          app(stays, { name: 'reader', volumeMounts: [{ name: 'data', mountPath: '/seen', readOnly: true }] }),
        ],
        {
          volumes: [{ name: 'data', emptyDir: {} }],
        },
      ),
    );
    const { app: writer, reader } = await agent.up('store', ['app', 'reader']);
    assert.ok(writer && reader);
    const written = (text: string): Promise<string> =>
      inside(reader.id, `until [ "$(cat /seen/log 2>/dev/null)" = "$(printf '${text}')" ]; do sleep 0.05; done`);
    await agent.within('the writer has written', written('start'));
    await agent.engine.kill(writer.id);
    await agent.within('the writer has started again', written('start\\nstart'));
    await assert.rejects(inside(reader.id, 'touch /seen/mine'), /Read-only/);
    assert.deepEqual(await readdir(`${agent.rootDir}/pods`), [writer.uid]);
    await agent.remove('store');
    await agent.gone('store');
    assert.deepEqual(await agent.traces(), []);
  });

  test('have links in /var/log/pods and /var/log/containers that lead to what they printed, and vanish with them', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('talks', pod([app(`echo one; echo two >&2; ${stays}`)]));
    const { app: talks } = await agent.up('talks');
    assert.ok(talks);
    const full = agent.pod('talks');
    const [modern, legacy] = [
      `/var/log/pods/default_${full}_${talks.uid}/app/0.log`,
      `/var/log/containers/${full}_default_app-${talks.id}.log`,
    ];
    await agent.until('the older link is there', () => readlink(legacy).catch(() => undefined));
    for (const path of [modern, legacy]) {
      const text = await agent.until('it has printed', async () => {
        const log = await readFile(path, 'utf8');
        return log.includes('two') && log;
      });
      assert.match(text, agent.engine.facts.logLine('one', 'stdout'));
      assert.match(text, agent.engine.facts.logLine('two', 'stderr'));
    }
    await agent.engine.kill(talks.id);
    // Engines may answer a kill before the container has ended.
    await agent.until('attempt 1 runs', async () => (await agent.up('talks')).app?.attempt === 1);
    await agent.until('the second log is linked', async () =>
      (await readdir(`/var/log/pods/default_${full}_${talks.uid}/app`)).includes('1.log'),
    );
    await agent.remove('talks');
    await agent.gone('talks');
    assert.deepEqual(await agent.traces(), []);
  });

  test('come back when a container is killed, as attempt 1 of the same pod in the same sandbox', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('tough', pod());
    const first = await agent.up('tough');
    assert.ok(first.app && first.POD);
    await agent.engine.kill(first.app.id);
    const second = await agent.until('it runs again', async () => {
      const now = await agent.up('tough');
      return now.app?.id !== first.app?.id && now;
    });
    assert.ok(second.app);
    assert.equal(second.POD?.id, first.POD.id);
    assert.equal(second.app.name, first.app.name.replace(/_0$/, '_1'));
    const { Labels } = (await agent.engine.inspect(second.app.id)).Config;
    assert.equal(Labels['annotation.io.kubernetes.container.restartCount'], '1');
  });

  test('come back in a new sandbox when the sandbox is killed', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('uprooted', pod());
    const first = await agent.up('uprooted');
    assert.ok(first.POD);
    await agent.engine.kill(first.POD.id);
    const second = await agent.until('it runs in another sandbox', async () => {
      const now = await agent.up('uprooted');
      return now.POD?.id !== first.POD?.id && now.app?.id !== first.app?.id && now;
    });
    assert.deepEqual([second.POD?.attempt, second.app?.attempt], [1, 1]);
    assert.equal(second.app?.uid, first.app?.uid);
  });

  test('start while another pod of the directory is slow to end', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('stubborn', pod([app("trap '' TERM; sleep 1000")], { terminationGracePeriodSeconds: 20 }));
    await agent.up('stubborn');
    await agent.remove('stubborn');
    await agent.logged('it is being stopped', ({ reason }) => reason === 'Killing');
    await agent.declare('brisk', pod());
    await agent.up('brisk');
    assert.deepEqual(
      (await agent.containers('stubborn')).map(({ state }) => state),
      ['running', 'running'],
    );
  });
});
