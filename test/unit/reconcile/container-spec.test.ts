import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../src/model/pod.ts';
import { containerSpec, type ContainerSpecFacts } from '../../../src/reconcile/container-spec.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';

const facts: ContainerSpecFacts = { podIps: async () => ['10.0.0.2', 'fd00::2'], hostIp: '192.0.2.1', mounts: [] };
const resolve = (over: Partial<Container>) => {
  const container = aContainer('app', over);
  return containerSpec(aPod('web', { nodeName: 'node-1', containers: [container] }), container, 0, 'sha256:1', facts);
};

test('variables may use those before them, and command and arguments all of them', async () => {
  const spec = await resolve({
    env: [
      { name: 'A', value: 'a' },
      { name: 'B', value: '$(A)b $(C) $$(A)' },
      { name: 'C', value: 'c' },
    ],
    command: ['run', '$(B)'],
    args: ['$(NONE)'],
  });
  assert.deepEqual(spec.env[1], { name: 'B', value: 'ab $(C) $(A)' });
  assert.deepEqual([spec.command, spec.args], [['run', 'ab $(C) $(A)'], ['$(NONE)']]);
});

test('fields of the pod and resources of the container become values', async () => {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
  const { env } = await resolve({
    resources: { limits: { memory: '64Mi' } },
    env: [
      field('NAME', 'metadata.name'),
      field('NODE', 'spec.nodeName'),
      field('IP', 'status.podIP'),
      field('IPS', 'status.podIPs'),
      field('HOST', 'status.hostIP'),
      { name: 'MEM', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
    ],
  });
  assert.deepEqual(
    env.map(({ value }) => value),
    ['web', 'node-1', '10.0.0.2', '10.0.0.2,fd00::2', '192.0.2.1', '64'],
  );
});

test('a reference that leads nowhere holds the container, in words that name the variable', async () => {
  const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }];
  await assert.rejects(resolve({ env }), {
    reason: 'CreateContainerConfigError',
    message: 'environment variable PASSWORD: secretKeyRef is not supported yet',
  });
});
