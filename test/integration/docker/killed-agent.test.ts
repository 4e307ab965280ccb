import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { testEndpoint, testImage } from '../../builders/docker-under-test.ts';
import { UnixSocketProxy } from '../../fakes/unix-socket-proxy.ts';
import { AgentUnderTest } from '../agent/agent-under-test.ts';
import { dockerOf } from '../agent/docker-test-engine.ts';
import { app, pod, stays } from '../agent/pod-specs.ts';

/** Containers are created before their sandboxes start, and names are taken, as only Docker has it. */
describe('an agent that was killed in the middle of a start, on Docker', { timeout: 200_000 }, () => {
  test('when a container is created and its sandbox has yet to start: the next one runs it as it is to be by then', async (t) => {
    const proxy = await UnixSocketProxy.start(testEndpoint.replace('unix://', ''));
    t.after(() => proxy.close());
    // The sandbox starts, and the agent does not hear of it.
    proxy.swallowAnswersTo('/start HTTP');
    const agent = await AgentUnderTest.prepare(t, `--docker-endpoint=unix://${proxy.path}`);
    const config = (value: string) => stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { value } });
    const env = [{ name: 'V', valueFrom: { configMapKeyRef: { name: 'settings', key: 'value' } } }];
    await agent.write('settings.yaml', config('old'));
    await agent.declare('web', pod([app(stays, { env })], { restartPolicy: 'Never' }));
    agent.run();
    const made = await agent.until('the container is created', async () =>
      (await agent.containers('web')).find(({ container }) => container === 'app'),
    );
    assert.equal(made.state, 'created');
    await agent.kill('SIGKILL');
    await agent.write('settings.yaml', config('new'));
    const from = agent.lines.length;
    agent.run('--v=4');
    const { app: web } = await agent.up('web');
    await agent.phase('web', 'Running', from);
    assert.ok(web && (await agent.engine.inspect(web.id)).Config.Env.includes('V=new'));
    const names = (await agent.containers('web')).map(({ container, attempt }) => `${container} ${attempt}`);
    assert.deepEqual(names.sort(), ['POD 0', 'app 0']);
  });

  test('finds a dead container of a crash under the name that it wants, and starts all the same', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('lost', pod());
    const { POD, app: first } = await agent.up('lost');
    assert.ok(POD && first);
    await agent.kill('SIGKILL');
    for (const { id } of [first, POD]) await dockerOf(agent.engine).call('DELETE', `/containers/${id}?force=1`);
    // As a create that an agent did not live to label or start: only the names are taken.
    for (const { name } of [POD, first]) {
      await dockerOf(agent.engine).call('POST', `/containers/create?name=${name}`, {
        Image: testImage,
        Cmd: ['true'],
        Labels: { 'io.kubernetes.pod.name': agent.pod('lost') },
      });
    }
    agent.run();
    const { app: second } = await agent.up('lost');
    assert.equal(second?.uid, first.uid);
  });

  test('finds what its own crash left half made: created and never started, and removes or uses it', async (t) => {
    const agent = await AgentUnderTest.start(t);
    await agent.declare('half', pod());
    const { POD, app: first } = await agent.up('half');
    assert.ok(POD && first);
    await agent.kill('SIGKILL');
    const { Config } = await agent.engine.inspect(first.id);
    const { Hostname: _hostname, ...rest } = Config;
    await dockerOf(agent.engine).call('DELETE', `/containers/${first.id}?force=1`);
    await dockerOf(agent.engine).call('POST', `/containers/create?name=${first.name}`, {
      ...rest,
      HostConfig: { NetworkMode: `container:${POD.id}` },
    });
    agent.run();
    const now = await agent.up('half');
    assert.equal(now.POD?.id, POD.id);
    await agent.until('nothing dead is left over but the newest', async () => (await agent.containers('half')).length <= 3);
  });
});
