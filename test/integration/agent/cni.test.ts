import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { V1PodSpec } from '@kubernetes/client-node';
import { AgentUnderTest } from './agent-under-test.ts';
import { CniUnderTest } from './cni-network.ts';
import { app, pod } from './pod-specs.ts';

/** Says its name to who asks on port 8080. */
const serving = (name: string, hostPort?: number): V1PodSpec =>
  pod([
    app(`mkdir /www; echo ${name} >/www/index.html; trap 'exit 0' TERM; httpd -f -p 8080 -h /www & wait $!`, {
      env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
      ...(hostPort !== undefined && { ports: [{ containerPort: 8080, hostPort }] }),
    }),
  ]);

async function anAgent(t: TestContext): Promise<{ agent: AgentUnderTest; cni: CniUnderTest }> {
  const agent = await AgentUnderTest.prepare(t);
  const cni = await CniUnderTest.prepare(t, agent);
  return { agent, cni };
}

const idOf = (containers: Awaited<ReturnType<AgentUnderTest['up']>>, name: string): string => containers[name]?.id ?? '';

describe('pods that CNI plugins connect', { timeout: 300_000 }, () => {
  test('wait while there is no configuration, say why, and start once there is one; pods on the node’s network do not wait', async (t) => {
    const { agent, cni } = await anAgent(t);
    agent.run(...cni.flags);
    await agent.declare('waits', pod());
    await agent.declare('host', pod([app()], { hostNetwork: true }));
    await agent.up('host');
    const event = await agent.logged('why it waits', ({ msg, reason }) => msg === 'event' && reason === 'NetworkNotReady');
    assert.equal(
      event['message'],
      'network is not ready: runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:docker: network plugin is not ready: cni config uninitialized',
    );
    assert.deepEqual(await agent.containers('waits'), []);
    await cni.writeConf('10-broken.conf', '{"name": "x"');
    await cni.writeConf('15-unknown.conf', '{"cniVersion": "1.0.0", "name": "x", "type": "nobody-has-it"}');
    await cni.writeNetwork();
    await agent.up('waits');
    const skipped = agent.lines.filter(({ msg }) => msg === 'CNI configuration skipped').map((line) => line['file']);
    assert.deepEqual(skipped, ['10-broken.conf', '15-unknown.conf']);
    await cni.end('waits', 'host');
  });

  test('have addresses of the range, reach each other, and are reached on ports of the node; nothing is left of them at the end', async (t) => {
    const { agent, cni } = await anAgent(t);
    await cni.writeNetwork();
    const hostPort = 30_000 + (process.pid % 2000);
    agent.run(...cni.flags);
    await agent.declare('a', serving('a', hostPort));
    await agent.declare('b', serving('b'));
    const a = idOf(await agent.up('a'), 'app');
    const b = idOf(await agent.up('b'), 'app');
    const [addressA, addressB] = [await cni.address(a), await cni.address(b)];
    assert.deepEqual([addressA, addressB].sort(), await cni.leases());
    assert.equal(await cni.exec(b, 'sh', '-c', 'echo $POD_IP'), addressB);
    assert.match(await cni.exec(b, 'cat', '/etc/hosts'), new RegExp(`^${addressB}\t${agent.pod('b')}$`, 'm'));
    assert.equal(await cni.ask(a, `http://${addressB}:8080/`), 'b');
    assert.equal(await cni.ask(b, `http://${addressA}:8080/`), 'a');
    // From another pod to the node, from the node to the pod.
    assert.equal(await cni.ask(b, `http://${cni.range}.1:${hostPort}/`), 'a');
    assert.equal((await (await fetch(`http://127.0.0.1:${hostPort}/`)).text()).trim(), 'a');
    await cni.end('a', 'b');
  });

  test('keep their addresses when the agent is killed; a container that starts later is told the same one', async (t) => {
    const { agent, cni } = await anAgent(t);
    await cni.writeNetwork();
    agent.run(...cni.flags);
    await agent.declare('a', serving('a'));
    const before = await agent.up('a');
    const address = await cni.address(idOf(before, 'app'));
    await agent.kill('SIGKILL');
    const line = agent.lines.length;
    agent.run();
    await agent.phase('a', 'Running', line);
    await agent.engine.kill(idOf(before, 'app'));
    const restarted = await agent.until('the container runs again', async () => {
      const found = (await agent.containers('a')).find(
        ({ container, state, id }) => container === 'app' && state === 'running' && id !== idOf(before, 'app'),
      );
      return found;
    });
    assert.equal(await cni.exec(restarted.id, 'sh', '-c', 'echo $POD_IP'), address);
    assert.equal(await cni.address(restarted.id), address);
    assert.deepEqual(await cni.leases(), [address]);
    assert.deepEqual((await agent.containers('a')).filter(({ container }) => container === 'POD').length, 1);
    await cni.end('a');
  });

  test('that vanish while no agent runs give back what they had', async (t) => {
    const { agent, cni } = await anAgent(t);
    await cni.writeNetwork();
    agent.run(...cni.flags);
    await agent.declare('stays', serving('stays'));
    await agent.declare('goes', serving('goes'));
    const stays = await cni.address(idOf(await agent.up('stays'), 'app'));
    await agent.up('goes');
    assert.equal((await cni.leases()).length, 2);
    await agent.kill('SIGKILL');
    await agent.remove('goes');
    const left = await agent.containers('goes');
    for (const { id } of left) await agent.engine.remove(id);
    agent.run();
    const line = await agent.logged('what is released', ({ msg }) => msg === 'network of a dead sandbox released');
    assert.ok(left.some(({ id }) => id === line['sandbox']));
    assert.deepEqual(await cni.leases(), [stays]);
    await cni.end('stays');
  });
});
