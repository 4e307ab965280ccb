import assert from 'node:assert/strict';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { AgentUnderTest } from './agent-under-test.ts';

const configFiles = resolve(import.meta.dirname, '../../builders/config-files');
const examples = resolve(import.meta.dirname, '../../../manifests/examples');

describe('the embedded engine', { timeout: 120_000 }, () => {
  test('brings the examples to their phases, and touches no Docker Engine', async (t) => {
    const agent = await AgentUnderTest.prepare(t, '--docker-endpoint=fake://', '--v=2');
    for (const name of await readdir(examples)) await copyFile(join(examples, name), join(agent.manifests, name));
    agent.run();
    const reaches = (name: string, phase: string) =>
      agent.logged(
        `${name} is ${phase}`,
        (line) => line.msg === 'pod phase changed' && line['pod'] === `default/${name}-n1` && line['to'] === phase,
      );
    await Promise.all([reaches('web', 'Running'), reaches('crashing', 'Running'), reaches('steps', 'Succeeded')]);
    const restarted = await agent.logged(
      'crashing starts again',
      ({ msg, pod, attempt }) => msg === 'container started' && pod === 'default/crashing-n1' && attempt === 1,
    );
    assert.match(String(restarted['because']), /exited with code 3/);
    assert.equal(await agent.kill(), 0);
    assert.deepEqual(agent.output, []);
  });

  test('runs the examples once', async (t) => {
    const agent = await AgentUnderTest.prepare(t, '--docker-endpoint=fake://', '--v=0', '--runonce');
    for (const name of ['web.yaml', 'steps.yaml']) await copyFile(join(examples, name), join(agent.manifests, name));
    agent.run();
    assert.equal(await agent.exited(), 0);
  });

  for (const file of ['kubeadm-1.36.yaml', 'k3s-style.yaml', 'eks-style.json']) {
    test(`runs a pod with the config file of a node that is there: ${file}`, async (t) => {
      const agent = await AgentUnderTest.prepare(t);
      await copyFile(join(examples, 'web.yaml'), join(agent.manifests, 'web.yaml'));
      // The certificates and the resolver's file that it names are that node's own.
      const without = ['--client-ca-file=', '--tls-cert-file=', '--tls-private-key-file=', '--resolv-conf=/etc/resolv.conf'];
      // So are the settings of its kernel, which this test neither wants nor changes.
      const config = join(agent.dir, file);
      await writeFile(config, (await readFile(join(configFiles, file), 'utf8')).replace(/^.*protectKernelDefaults.*\n/m, ''));
      agent.run('--docker-endpoint=fake://', `--config=${config}`, ...without);
      await agent.logged(
        'web is Running',
        ({ msg, pod, to }) => msg === 'pod phase changed' && pod === 'default/web-n1' && to === 'Running',
      );
      const warned = agent.lines.filter(({ msg }) => /config field|container runtime/.test(msg)).map(({ option }) => option);
      assert.equal(new Set(warned).size, warned.length);
      assert.ok(warned.includes('containerRuntimeEndpoint'));
      assert.equal(await agent.kill(), 0);
      assert.deepEqual(agent.output, []);
    });
  }
});
