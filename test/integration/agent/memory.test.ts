import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formatCpuSet, parseCpuSet } from '../../../src/model/cpu-set.ts';
import { AgentUnderTest } from './agent-under-test.ts';
import { app, pod, stays } from './pod-specs.ts';

const flags = ['--memory-manager-policy=Static', '--eviction-hard=memory.available<100Mi', '--reserved-memory=0:memory=100Mi'];

describe('memory of chosen NUMA nodes', { timeout: 300_000 }, () => {
  test('a Guaranteed pod has it and others do not, also over a restart of the agent', async (t) => {
    const agent = await AgentUnderTest.prepare(t, ...flags);
    /** As Docker was told, where that is where the process may have memory. */
    const nodesOf = async (name: string): Promise<string> => {
      const { app: container } = await agent.up(name);
      assert.ok(container);
      const { State, HostConfig } = await agent.engine.inspect(container.id);
      const status = await readFile(`/proc/${State.Pid}/status`, 'utf8');
      const allowed = /^Mems_allowed_list:\s*(.*)$/m.exec(status)?.[1] ?? '';
      const { CpusetMems } = HostConfig;
      if (CpusetMems !== '') assert.equal(allowed, formatCpuSet(parseCpuSet(CpusetMems)));
      return CpusetMems;
    };
    const amounts = { cpu: '100m', memory: '32Mi' };
    const uid = randomUUID();
    await agent.declare('own', pod([app(stays, { resources: { requests: amounts, limits: amounts } })]), { metadata: { uid } });
    await agent.declare('other', pod([app(stays)]));
    agent.run();
    const own = await nodesOf('own');
    assert.match(own, /^\d+$/, 'one node has enough');
    assert.equal(await nodesOf('other'), '');
    const state = async (): Promise<{ readonly entries?: object }> =>
      JSON.parse(await readFile(join(agent.rootDir, 'memory_manager_state'), 'utf8'));
    const [containers] = Object.values((await state()).entries ?? {});
    assert.deepEqual(containers, { app: [{ numaAffinity: [Number(own)], type: 'memory', size: 32 * 2 ** 20 }] });

    const [before] = await agent.containers('own');
    await agent.kill('SIGKILL');
    const from = agent.lines.length;
    agent.run();
    await agent.phase('own', 'Running', from);
    assert.deepEqual([await nodesOf('own'), (await agent.containers('own'))[0]?.id], [own, before?.id]);

    await agent.remove('own');
    await agent.until('a checkpoint without the pod', async () => !('entries' in (await state())));
  });
});
