import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Container, Pod } from '../../../../../src/model/pod.ts';
import type { ContainerChange, ContainerId } from '../../../../../src/ports/container-runtime.ts';
import { aContainer, aPod } from '../../../../builders/a-pod.ts';
import { aDockerRuntime, anEngineClient } from '../../../../builders/docker-parts.ts';
import { FakeClock } from '../../../../fakes/fake-clock.ts';
import { scriptedEngine } from '../../../../fakes/scripted-engine.ts';

const usage = 50 * 2 ** 20;

/** What docker is asked to change, of a container that uses 50 Mi. */
async function update(
  context: TestContext,
  change: ContainerChange,
  resources: Container['resources'],
  spec: Partial<Pod['spec']> = {},
  cpuCfsQuota = true,
): Promise<object> {
  const bodies: string[] = [];
  const engine = await scriptedEngine((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify({ memory_stats: { usage } }));
      return;
    }
    let body = '';
    request
      .on('data', (piece) => (body += piece))
      .on('end', () => {
        bodies.push(body);
        response.end('{"Warnings":null}');
      });
  });
  context.after(engine.close);
  const clock = new FakeClock();
  const node = { memoryCapacityBytes: 8 * 2 ** 30, cpuCfsQuota, cpuCfsQuotaPeriodUs: 100_000, podPidsLimit: -1 };
  const runtime = aDockerRuntime(anEngineClient(engine.endpoint, clock), clock, { node });
  const container = aContainer('c', resources && { resources });
  const pod = aPod('p', { ...spec, containers: [container] });
  await runtime.updateContainer('id' as ContainerId, pod, container, change, new AbortController().signal);
  assert.equal(bodies.length, 1);
  return JSON.parse(bodies[0] ?? '');
}

test('of the CPUs that a container runs on nothing else is changed', async (t) => {
  assert.deepEqual(await update(t, { cpuset: '0-2,7' }, { limits: { cpu: '1', memory: '64Mi' } }), { CpusetCpus: '0-2,7' });
});

test('CPU and memory are changed by themselves, in the words of docker', async (t) => {
  const resources = { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
  assert.deepEqual(await update(t, 'cpu', resources), { CpuShares: 256, CpuPeriod: 100_000, CpuQuota: 50_000 });
  assert.deepEqual(await update(t, 'memory', resources), { Memory: 128 * 2 ** 20, MemorySwap: 128 * 2 ** 20 });
});

test('a limit that goes away is taken back: to docker 0 would leave it', async (t) => {
  assert.deepEqual(await update(t, 'cpu', { requests: { cpu: '1' } }), { CpuShares: 1024, CpuPeriod: 100_000, CpuQuota: -1 });
  assert.deepEqual(await update(t, 'memory', {}), { Memory: 2 ** 63 - 4096, MemorySwap: 2 ** 63 - 4096 });
});

test('where the pod has the limit, the container has it', async (t) => {
  const spec = { resources: { limits: { cpu: '2', memory: '1Gi' } } };
  assert.deepEqual(await update(t, 'cpu', {}, spec), { CpuShares: 2048, CpuPeriod: 100_000, CpuQuota: 200_000 });
  assert.deepEqual(await update(t, 'memory', { limits: { memory: '512Mi' } }, spec), { Memory: 512 * 2 ** 20, MemorySwap: 512 * 2 ** 20 });
});

test('a node that enforces no CPU limits changes none', async (t) => {
  assert.deepEqual(await update(t, 'cpu', { limits: { cpu: '1' } }, {}, false), { CpuShares: 1024 });
});

test('memory goes down to one byte more than is used, and no further', async (t) => {
  assert.deepEqual(await update(t, 'memory', { limits: { memory: `${usage + 1}` } }), { Memory: usage + 1, MemorySwap: usage + 1 });
  await assert.rejects(update(t, 'memory', { limits: { memory: `${usage}` } }), {
    message: `cannot decrease memory limits: attempting to set container "c" memory limit (${usage}) below current usage (${usage})`,
  });
});
