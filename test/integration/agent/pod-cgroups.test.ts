import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { V1PodSpec } from '@kubernetes/client-node';
import { linearCpuWeight } from '../../../src/model/cpu-weight.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const MI = 2 ** 20;
const overhead = { cpu: '50m', memory: '10Mi' };
/** Together they fit on a machine of one CPU. */
const part = { cpu: '200m', memory: '64Mi' };

/** As a reference kubelet makes them; the quota is of 100 ms. */
const pods: readonly {
  readonly name: string;
  readonly spec: V1PodSpec;
  readonly parent: string;
  readonly cgroup: Cgroup;
}[] = [
  {
    name: 'guaranteed',
    spec: pod([app(stays, { resources: { limits: part } }), app(stays, { name: 'two', resources: { limits: part } })]),
    parent: '/kubepods',
    cgroup: { shares: 409, quota: 40_000, memory: 128 * MI },
  },
  {
    name: 'initialized',
    spec: pod([app(stays, { resources: { limits: part } })], {
      initContainers: [app('exit 0', { name: 'first', resources: { limits: { cpu: '400m', memory: '96Mi' } } })],
    }),
    parent: '/kubepods',
    cgroup: { shares: 409, quota: 40_000, memory: 96 * MI },
  },
  {
    name: 'burstable',
    spec: pod([app(stays, { resources: { requests: { cpu: '100m', memory: '16Mi' }, limits: { memory: '64Mi' } } })], { overhead }),
    parent: '/kubepods/burstable',
    cgroup: { shares: 153, quota: -1, memory: 74 * MI },
  },
  { name: 'besteffort', spec: pod([app()]), parent: '/kubepods/besteffort', cgroup: { shares: 2, quota: -1, memory: undefined } },
];

interface Cgroup {
  readonly shares: number;
  readonly quota: number;
  readonly memory: number | undefined;
}

describe("a pod's cgroup", { timeout: 300_000 }, () => {
  test('lies in that of its class, limits what its containers use together, holds them all, and goes with the pod', async (t) => {
    const agent = await AgentUnderTest.start(t, '--pod-max-pids=50');
    for (const { name, spec } of pods) await agent.declare(name, spec);
    for (const { name, spec, parent, cgroup } of pods) {
      const running = await agent.up(
        name,
        spec.containers.map((container) => container.name),
      );
      const uid = running['app']?.uid ?? '';
      for (const { id } of Object.values(running)) {
        const { HostConfig } = await agent.engine.inspect(id);
        assert.deepEqual([HostConfig.CgroupParent, HostConfig.PidsLimit ?? 0], [`${agent.cgroups?.path}${parent}/pod${uid}`, 0], name);
      }
      assert.deepEqual(await cgroupAt(agent, `${parent}/pod${uid}`), { ...cgroup, shares: weighed(agent, cgroup.shares) }, name);
      assert.equal(await agent.cgroups?.read(`${parent}/pod${uid}`, 'pids', 'pids.max'), '50');
      assert.deepEqual(
        new Set(await agent.cgroups?.fs.children(`${agent.cgroups.path}${parent}/pod${uid}`)),
        new Set(Object.values(running).map(({ id }) => id)),
      );
    }
    await agent.until(
      'the class has what its pods ask for',
      async () => (await cgroupAt(agent, '/kubepods/burstable')).shares === weighed(agent, 153),
    );
    for (const { name } of pods) await agent.remove(name);
    for (const { name } of pods) await agent.gone(name);
    const left = await Promise.all(
      ['', '/burstable', '/besteffort'].map(async (path) => agent.cgroups?.fs.children(`${agent.cgroups.path}/kubepods${path}`)),
    );
    assert.deepEqual(new Set(left.flat()), new Set(['besteffort', 'burstable']));
  });

  test('grows before its containers and shrinks after them', async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const uid = randomUUID();
    const declare = (cpu: string, memory: string): Promise<void> =>
      agent.declare('web', pod([app(stays, { resources: { limits: { cpu, memory } } })]), { metadata: { uid } });
    await declare('100m', '64Mi');
    agent.run();
    await agent.up('web');
    for (const [cpu, memory, quota] of [
      ['400m', '128Mi', 40_000],
      ['50m', '32Mi', 5_000],
    ] as const) {
      await declare(cpu, memory);
      await agent.until(`the cgroup has ${cpu} and ${memory}`, async () => {
        const found = await cgroupAt(agent, `/kubepods/pod${uid}`);
        return found.quota === quota && found.memory === Number.parseInt(memory) * MI;
      });
    }
    assert.deepEqual(
      agent.lines.filter(({ reason }) => reason === 'ResizeError'),
      [],
    );
  });

  test('is not that of a pod from before, whose containers go on; one that starts again is in it; and orphans go', async (t) => {
    const agent = await AgentUnderTest.prepare(t, '--cgroups-per-qos=false', '--enforce-node-allocatable=none');
    await agent.declare('web', pod([app(), app(stays, { name: 'two' })]));
    agent.run();
    const before = await agent.up('web', ['app', 'two']);
    const uid = before['app']?.uid ?? '';
    assert.equal((await agent.engine.inspect(before['app']?.id ?? '')).HostConfig.CgroupParent, agent.engine.facts.ownCgroupParent);
    await agent.kill();

    const orphan = `${agent.cgroups?.path}/kubepods/burstable/pod${randomUUID()}`;
    await agent.cgroups?.fs.make(orphan);
    const line = agent.lines.length;
    agent.run('--cgroups-per-qos=true');
    await agent.phase('web', 'Running', line);
    await agent.logged('orphaned cgroup removed', ({ msg, cgroup }) => msg === 'orphaned cgroup removed' && cgroup === orphan);
    assert.equal(await agent.cgroups?.fs.identity(orphan), undefined);
    assert.deepEqual(await agent.up('web', ['app', 'two']), before);
    await agent.engine.kill(before['app']?.id ?? '');
    const after = await agent.until('it runs again', async () => {
      const now = await agent.up('web', ['app', 'two']);
      return now['app']?.id === before['app']?.id ? undefined : now;
    });
    assert.deepEqual([after['POD'], after['two']], [before['POD'], before['two']]);
    const { HostConfig } = await agent.engine.inspect(after['app']?.id ?? '');
    assert.equal(HostConfig.CgroupParent, `${agent.cgroups?.path}/kubepods/besteffort/pod${uid}`);
  });

  test('holds its processes to --pod-max-pids together, and its containers to what they may use', async (t) => {
    const agent = await AgentUnderTest.start(t, '--pod-max-pids=20');
    const forks = 'i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i+1)); done; wait';
    const hog = 'head -c 100000000 /dev/zero | tail';
    await agent.declare('forks', pod([app(forks)], { restartPolicy: 'Never' }));
    await agent.declare('hog', pod([app(hog, { resources: { limits: { cpu: '1', memory: '32Mi' } } })], { restartPolicy: 'Never' }));
    await agent.phase('hog', 'Failed');
    const { app: container } = Object.fromEntries((await agent.containers('hog')).map((one) => [one.container, one]));
    assert.equal((await agent.engine.inspect(container?.id ?? '')).State.ExitCode, 137);
    // A shell that cannot fork gives up.
    await agent.phase('forks', 'Failed');
    const left = await agent.until('the cgroups of both are gone', async () => {
      const names = await agent.cgroups?.fs.children(`${agent.cgroups.path}/kubepods/besteffort`);
      return names?.length === 0 && names;
    });
    assert.deepEqual(left, []);
  });
});

/** In the terms of version 1: of version 2 the weight is that of as many shares. */
async function cgroupAt({ cgroups }: AgentUnderTest, path: string): Promise<Cgroup> {
  const read = async (controller: 'cpu' | 'memory', v1: string, v2: string): Promise<string> =>
    (await cgroups?.read(path, controller, cgroups.fs.version === 1 ? v1 : v2)) ?? '';
  const [quota = ''] = (await read('cpu', 'cpu.cfs_quota_us', 'cpu.max')).split(' ');
  const memory = Number(await read('memory', 'memory.limit_in_bytes', 'memory.max'));
  return {
    shares: Number(await read('cpu', 'cpu.shares', 'cpu.weight')),
    quota: quota === 'max' ? -1 : Number(quota),
    memory: memory < 2 ** 60 ? memory : undefined,
  };
}

const weighed = ({ cgroups }: AgentUnderTest, shares: number): number => (cgroups?.fs.version === 2 ? linearCpuWeight(shares) : shares);
