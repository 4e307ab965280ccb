import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeService } from '../../../../../src/engines/cri/api/runtime_pb.js';
import { SandboxConfigs } from '../../../../../src/engines/cri/sandbox/sandbox-configs.ts';
import { aPod } from '../../../../builders/a-pod.ts';
import { rpcError, ScriptedCri } from '../../../../fakes/scripted-cri.ts';

const { podSandboxStatus } = RuntimeService.method;
const { signal } = new AbortController();
const pod = aPod('web');

/** A runtime with one sandbox, which adds this to its verbose status. */
const aRuntime = (info: object): ScriptedCri =>
  new ScriptedCri().answer(podSandboxStatus, ({ podSandboxId, verbose }) => {
    if (podSandboxId !== 's1') throw rpcError('PodSandboxStatus', 'NotFound', 'no such sandbox');
    return { status: { id: 's1', metadata: { attempt: 3 } }, info: verbose ? { info: JSON.stringify(info) } : {} };
  });

test('what a sandbox was made from is given with its containers, without a question', async () => {
  const client = aRuntime({});
  const configs = new SandboxConfigs(client, '/logs');
  const config = { metadata: { name: 'web', attempt: 0 } };
  configs.remember('s1', config);
  assert.equal(await configs.of('s1', pod, undefined, signal), config);
  configs.forget('s1');
  assert.notEqual(await configs.of('s1', pod, undefined, signal), config);
  assert.equal(client.count('PodSandboxStatus'), 1);
});

test('of a sandbox of before it is made up again from the pod and what the runtime was asked for, once', async () => {
  const dns_config = { servers: ['10.96.0.10'], searches: ['shop.svc'], options: ['ndots:5'] };
  const client = aRuntime({ config: { hostname: 'pearl', dns_config } });
  const configs = new SandboxConfigs(client, '/logs');
  const config = await configs.of('s1', pod, '/kubepods/x', signal);
  assert.deepEqual([config.metadata?.attempt, config.hostname, config.dnsConfig], [3, 'pearl', dns_config]);
  assert.equal(config.linux?.cgroupParent, '/kubepods/x');
  assert.equal(config.logDirectory, `/logs/default_web_${pod.metadata.uid}`);
  assert.equal(await configs.of('s1', pod, '/kubepods/x', signal), config);
  assert.equal(client.count('PodSandboxStatus'), 1);
});

test('where the runtime does not tell, the host name follows from the pod', async () => {
  const config = await new SandboxConfigs(aRuntime({}), '/logs').of('s1', pod, undefined, signal);
  assert.deepEqual([config.hostname, config.dnsConfig], ['web', undefined]);
});

test('of a sandbox that is not there nothing is made up', async () => {
  await assert.rejects(new SandboxConfigs(aRuntime({}), '/logs').of('s2', pod, undefined, signal), /NotFound/);
});
