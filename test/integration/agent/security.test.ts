import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import { ScriptedRegistry } from '../../fakes/scripted-registry.ts';
import { aRunnableImage } from './a-runnable-image.ts';
import { AgentUnderTest, type Disposer } from './agent-under-test.ts';
import { freePort } from './free-port.ts';
import { inside } from './exec-in.ts';
import { app, pod, stays } from './pod-specs.ts';

type Status = NonNullable<V1Pod['status']>;

/** An agent that tells its pods' statuses to whoever asks on this machine. */
async function anAgent(
  t: Disposer,
  ...flags: string[]
): Promise<{ agent: AgentUnderTest; statusOf: (name: string) => Promise<Status | undefined> }> {
  const agent = await AgentUnderTest.prepare(t);
  const port = await freePort(agent.port);
  agent.run(`--read-only-port=${port}`, ...flags);
  const statusOf = async (name: string): Promise<Status | undefined> => {
    const response = await fetch(`http://127.0.0.1:${port}/pods`).catch(() => undefined);
    if (!response) return undefined;
    const { items } = (await response.json()) as { readonly items: readonly V1Pod[] | null };
    return items?.find(({ metadata }) => metadata?.name === agent.pod(name))?.status;
  };
  return { agent, statusOf };
}

const event = (agent: AgentUnderTest, name: string, reason: string): Promise<string> =>
  agent
    .logged(
      `${reason} of ${name}`,
      (line) => line.msg === 'event' && line['pod'] === `default/${agent.pod(name)}` && line['reason'] === reason,
    )
    .then((line) => String(line['message']));

/** The test image, for a user that only the image knows. */
async function imageOfNamedUser(t: Disposer): Promise<string> {
  const registry = await ScriptedRegistry.start();
  t.after(() => registry.close());
  return registry.serve('test/named-user', '1', await aRunnableImage('named user', { User: 'nobody' }));
}

describe('security of pods', { timeout: 300_000 }, () => {
  test('runAsNonRoot holds a container whose image names its user, and one of root; a number will do', async (t) => {
    const { agent, statusOf } = await anAgent(t);
    const image = await imageOfNamedUser(t);
    const nonRoot = { runAsNonRoot: true };
    await agent.declare('named', pod([app(stays, { image, securityContext: nonRoot })]));
    await agent.declare('root', pod([app(stays)], { securityContext: nonRoot }));
    await agent.declare('numbered', pod([app(stays, { image, securityContext: { ...nonRoot, runAsUser: 1000 } })]));
    const waiting = (name: string) =>
      agent.until(`${name} waits`, async () => {
        const found = (await statusOf(name))?.containerStatuses?.[0]?.state?.waiting;
        return found?.reason === 'CreateContainerConfigError' ? found.message : undefined;
      });
    assert.match(
      await waiting('named'),
      /^container has runAsNonRoot and image has non-numeric user \(nobody\), cannot verify user is non-root/,
    );
    assert.match(await waiting('root'), /^container has runAsNonRoot and image will run as root/);
    assert.match(await event(agent, 'named', 'Failed'), /^Error: container has runAsNonRoot and image has non-numeric user \(nobody\)/);
    const { app: numbered } = await agent.up('numbered');
    assert.equal(await inside(numbered?.id ?? '', 'id -u'), '1000');
    for (const name of ['named', 'root', 'numbered']) await agent.remove(name);
    for (const name of ['named', 'root', 'numbered']) await agent.gone(name);
    await agent.engine.removeImage(image);
  });

  test('a read-only root, groups, capabilities and privileges are as asked inside', async (t) => {
    const { agent } = await anAgent(t);
    const securityContext = {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      runAsUser: 1000,
      runAsGroup: 1001,
    };
    await agent.declare(
      'tight',
      pod([app(stays, { securityContext })], { securityContext: { supplementalGroups: [1002], fsGroup: 1003 } }),
    );
    const { app: tight } = await agent.up('tight');
    assert.ok(tight);
    await assert.rejects(inside(tight.id, 'touch /new'), /Read-only file system/);
    assert.equal(await inside(tight.id, 'id -u; id -g; id -G | tr " " "\\n" | sort | xargs'), '1000\n1001\n1001 1002 1003');
    const status = await inside(tight.id, 'cat /proc/1/status');
    assert.match(status, /^NoNewPrivs:\t1$/m);
    // CAP_NET_BIND_SERVICE is the tenth.
    assert.match(status, /^CapBnd:\t0000000000000400$/m);
  });

  test('safe sysctls are set inside, allowed ones too; others refuse the pod and say why', async (t) => {
    const { agent, statusOf } = await anAgent(t, '--allowed-unsafe-sysctls=kernel.msg*');
    const sysctls = (...names: readonly (readonly [string, string])[]) => ({
      securityContext: { sysctls: names.map(([name, value]) => ({ name, value })) },
    });
    await agent.declare('safe', pod([app()], sysctls(['net.ipv4.ip_local_port_range', '2048 4096'], ['kernel.msgmax', '16384'])));
    await agent.declare('unsafe', pod([app()], sysctls(['net.ipv4.ip_forward', '1'])));
    const { app: safe } = await agent.up('safe');
    const seen = await inside(safe?.id ?? '', 'cat /proc/sys/net/ipv4/ip_local_port_range /proc/sys/kernel/msgmax');
    assert.deepEqual(seen.split(/\s+/), ['2048', '4096', '16384']);
    const words = 'forbidden sysctl: "net.ipv4.ip_forward" not whitelisted (spec.securityContext.sysctls[0].name)';
    assert.equal(await event(agent, 'unsafe', 'SysctlForbidden'), words);
    const status = await agent.until('unsafe has failed', async () => {
      const found = await statusOf('unsafe');
      return found?.phase === 'Failed' ? found : undefined;
    });
    assert.deepEqual([status.reason, status.message], ['SysctlForbidden', `Pod was rejected: ${words}`]);
    assert.deepEqual(await agent.containers('unsafe'), []);
  });

  test("the node's namespaces are for pods of the sources that may have them", async (t) => {
    const { agent } = await anAgent(t, '--host-network-sources=api', '--allow-privileged=false');
    await agent.declare('network', pod([app()], { hostNetwork: true }));
    await agent.declare('privileged', pod([app(stays, { securityContext: { privileged: true } })]));
    await agent.declare('plain', pod([app()], { hostPID: true }));
    assert.match(
      await event(agent, 'network', 'Forbidden'),
      /specified host networking, but is disallowed \(spec\.hostNetwork: pods of source file\)$/,
    );
    assert.match(
      await event(agent, 'privileged', 'Forbidden'),
      /specified privileged container, but is disallowed \(container app: securityContext\.privileged\)$/,
    );
    const { app: plain } = await agent.up('plain');
    assert.ok(Number(await inside(plain?.id ?? '', 'ls -d /proc/[0-9]* | wc -l')) > 5);
    assert.deepEqual([...(await agent.containers('network')), ...(await agent.containers('privileged'))], []);
  });

  test('with one process namespace each container sees the others, and the sandbox reaps', async (t) => {
    const { agent } = await anAgent(t);
    const first = app('exec sleep 100001', { name: 'first' });
    // Its child is left behind, ends, and becomes the first process's.
    const second = app('(sleep 1 & exec true); exec sleep 100002', { name: 'second' });
    await agent.declare('shared', pod([first, second], { shareProcessNamespace: true }));
    const { first: one, second: two } = await agent.up('shared', ['first', 'second']);
    assert.match(await inside(one?.id ?? '', 'ps'), /sleep 100002/);
    assert.match(await inside(two?.id ?? '', 'ps'), /sleep 100001/);
    await agent.until('no zombie is left', async () => {
      const states = await inside(one?.id ?? '', 'cat /proc/[0-9]*/stat 2>/dev/null | cut -d" " -f3 | tr -d "\\n"');
      if (!states.includes('Z') && !(await inside(one?.id ?? '', 'ps')).includes('sleep 1\n')) return true;
      setTimeout(() => agent.look(), 200).unref();
      return undefined;
    });
  });

  test('a container that eats more memory than its limit is OOMKilled', async (t) => {
    const { agent, statusOf } = await anAgent(t);
    const eats = app('x=0123456789abcdef; while :; do x=$x$x; done', { resources: { limits: { memory: '16Mi' } } });
    await agent.declare('hungry', pod([eats], { restartPolicy: 'Never' }));
    await agent.phase('hungry', 'Failed');
    // On cgroup v2 the engine may hear of the kill only after it has said that the container ended.
    const terminated = await agent.until('it was killed for its memory', async () => {
      const found = (await statusOf('hungry'))?.containerStatuses?.[0]?.state?.terminated;
      return found?.reason === 'OOMKilled' && found;
    });
    assert.equal(terminated.exitCode, 137);
  });

  test('a child that eats more memory than the limit takes its container along on cgroup v2, and dies alone on v1', async (t) => {
    const { version } = await readCgroupHierarchy();
    const { agent, statusOf } = await anAgent(t);
    // Not before it is set what is killed; version 1 has no such file.
    const waits = 'until [ "$(cat /sys/fs/cgroup/memory.oom.group 2>/dev/null || echo 1)" = 1 ]; do sleep 0.05; done';
    const parent = app(`${waits}; sh -c 'x=0123456789abcdef; while :; do x=$x$x; done'; exit 7`, {
      resources: { limits: { memory: '16Mi' } },
    });
    await agent.declare('parent', pod([parent], { restartPolicy: 'Never' }));
    await agent.phase('parent', 'Failed');
    const terminated = (await statusOf('parent'))?.containerStatuses?.[0]?.state?.terminated;
    assert.equal(terminated?.exitCode, version === 2 ? 137 : 7);
  });
});
