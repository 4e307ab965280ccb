import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { AgentUnderTest } from '../agent/agent-under-test.ts';
import { dockerOf } from '../agent/docker-test-engine.ts';
import { app, pod, stays } from '../agent/pod-specs.ts';

const config = (size: string, files: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncontainerLogMaxSize: ${size}\ncontainerLogMaxFiles: ${files}\n`;

test(
  'containers that are made after a change of the config file have its log policy, and the agent is the same',
  { timeout: 120_000 },
  async (t) => {
    const agent = await AgentUnderTest.prepare(t);
    const file = join(agent.dir, 'config.yaml');
    await writeFile(file, config('20Mi', 2));
    agent.run(`--config=${file}`, '--cpu-cfs-quota-period=50ms');
    const { pid } = agent;
    const logConfigOf = async (name: string): Promise<unknown> => {
      await agent.declare(name, pod([app(stays, { resources: { limits: { cpu: '500m' } } })]));
      const { app: made } = await agent.up(name);
      const { HostConfig } = (await dockerOf(agent.engine).call('GET', `/containers/${made?.id}/json`)) as {
        readonly HostConfig: {
          readonly CpuPeriod: number;
          readonly CpuQuota: number;
          readonly LogConfig: { readonly Config: Readonly<Record<string, string>> };
        };
      };
      assert.deepEqual([HostConfig.CpuPeriod, HostConfig.CpuQuota], [50_000, 25_000]);
      const { 'max-size': size, 'max-file': files } = HostConfig.LogConfig.Config;
      return [size, files];
    };
    assert.deepEqual(await logConfigOf('before'), [`${20 * 2 ** 20}`, '2']);
    await writeFile(`${file}.new`, config('1Mi', 7));
    await rename(`${file}.new`, file);
    await agent.logged('the change', ({ msg }) => msg === 'the configuration has changed, and counts from now on');
    assert.deepEqual(await logConfigOf('after'), [`${2 ** 20}`, '7']);
    assert.equal(agent.pid, pid);
  },
);
