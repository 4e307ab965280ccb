import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import { parseCgroupPaths } from '../../../src/base/cgroup-paths.ts';
import { formatCpuSet, parseCpuSet } from '../../../src/model/cpu-set.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const flags = ['--cpu-manager-policy=static', '--reserved-cpus=0', '--cpu-manager-reconcile-period=1s'];

/** Of the cgroup that the process is in. */
async function cpusFileOf(pid: number): Promise<string> {
  const { root, version } = await readCgroupHierarchy();
  const paths = parseCgroupPaths(await readFile(`/proc/${pid}/cgroup`, 'utf8'));
  const [controller, directory] = version === 2 ? ['', root] : ['cpuset', join(root, 'cpuset')];
  return join(directory, paths.get(controller) ?? '', 'cpuset.cpus');
}

describe('CPUs of its own', { timeout: 300_000 }, () => {
  test('a Guaranteed pod has them, others move away and come back, also over a restart of the agent', async (t) => {
    const online = parseCpuSet((await readFile('/sys/devices/system/cpu/online', 'utf8')).trim());
    assert.ok(online.size > 1, 'one CPU cannot be shared out');
    const agent = await AgentUnderTest.prepare(t, ...flags);
    /** As Docker was told, which is where the process may run. */
    const cpusOf = async (name: string): Promise<string | undefined> => {
      const { app: container } = await agent.up(name);
      assert.ok(container);
      const { State, HostConfig } = await agent.engine.inspect(container.id);
      const status = await readFile(`/proc/${State.Pid}/status`, 'utf8').catch(() => '');
      const allowed = /^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '';
      assert.equal(HostConfig.CpuQuota, name === 'own' ? -1 : 0, 'nothing else holds it back');
      return allowed === HostConfig.CpusetCpus ? allowed : undefined;
    };
    const on = (name: string, cpus: string): Promise<true> =>
      agent.until(`${name} on CPUs ${cpus}`, async () => (await cpusOf(name)) === cpus);
    const all = formatCpuSet(online);

    await agent.declare('shares', pod([app(stays)]));
    agent.run();
    await on('shares', all);

    const amounts = { cpu: '1', memory: '32Mi' };
    const uid = randomUUID();
    await agent.declare('own', pod([app(stays, { resources: { requests: amounts, limits: amounts } })]), { metadata: { uid } });
    const own = await agent.until('CPUs of its own', () => cpusOf('own'));
    assert.equal(parseCpuSet(own).size, 1);
    assert.ok(!parseCpuSet(own).has(0), "the reserved one is nobody's");
    const rest = formatCpuSet(online.difference(parseCpuSet(own)));
    await on('shares', rest);
    await agent.logged('the move', ({ did }) => /pinContainer app: ok/.test(String(did)));
    const state = async (): Promise<object> => JSON.parse(await readFile(join(agent.rootDir, 'cpu_manager_state'), 'utf8'));
    const { entries, ...kept }: { entries?: object; defaultCpuSet?: string } = await state();
    assert.deepEqual([kept.defaultCpuSet, Object.values(entries ?? {})], [rest, [{ app: own }]]);

    const [before] = await agent.containers('own');
    await agent.kill('SIGKILL');
    const from = agent.lines.length;
    agent.run();
    await agent.phase('own', 'Running', from);
    assert.deepEqual([await cpusOf('own'), await cpusOf('shares')], [own, rest]);
    assert.deepEqual((await agent.containers('own'))[0]?.id, before?.id);

    const { app: moved } = await agent.up('own');
    assert.ok(moved);
    const { State } = await agent.engine.inspect(moved.id);
    await writeFile(await cpusFileOf(State.Pid), rest);
    await agent.logged('what was moved behind the engine', ({ msg }) => msg.startsWith('container put back on its CPUs'));
    await on('own', own);

    await agent.remove('own');
    await on('shares', all);
    await agent.until('a checkpoint without the pod', async () => !('entries' in (await state())));
  });
});
