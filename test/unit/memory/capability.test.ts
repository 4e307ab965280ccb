import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import type { Container, Pod, PodStatus, PodUid } from '../../../src/model/pod.ts';
import { capability } from '../../../src/memory/capability.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { ContainerId } from '../../../src/ports/container-runtime.ts';
import type { RunningContainer } from '../../../src/ports/running-pods.ts';
import { aMachine } from '../../builders/a-machine.ts';
import { aContainer, aPod } from '../../builders/a-pod.ts';
import { nodeUnderTest, runServices } from '../../builders/node-parts.ts';
import { someMemory } from '../../builders/some-cgroups.ts';

const never = new AbortController().signal;
const MI = 2 ** 20;
const files = ['memory.oom.group', 'memory.swap.max', 'memory.min', 'memory.low', 'memory.high'] as const;
const untouched = Object.fromEntries(files.map((file) => [file, '']));
const ofCgroup = (id: string, pid: number): Readonly<Record<string, string>> => ({
  [`proc/${pid}/cgroup`]: `0::/docker/${id}\n`,
  ...Object.fromEntries(files.map((file) => [`cgroup/docker/${id}/${file}`, ''])),
});
const aRunning = (name: string, pid: number): RunningContainer => ({
  id: name as ContainerId,
  name,
  engineName: name,
  image: 'busybox:1.35',
  startedAtMs: 0,
  pid,
});
const runs = (started: Readonly<Record<string, string>>): PodStatus => ({
  containerStatuses: Object.entries(started).map(([id, startedAt]) => ({
    name: id,
    image: '',
    imageID: '',
    ready: true,
    restartCount: 0,
    containerID: `docker://${id}`,
    state: { running: { startedAt } },
  })),
});
const podOf = (...containers: readonly Container[]): Pod => aPod('web', { containers: [...containers] });

/** A node with 8 GiB of memory and 4 of swap, and a pod "web" whose containers have the processes of `pids`, which the test changes. */
async function aNodeOn(t: TestContext, options: Partial<KubeletOptions> = {}, swapBytes = 4 * 2 ** 30) {
  const machine = await aMachine({ 'proc/1/cgroup': '0::/init\n' });
  t.after(() => machine.remove());
  const pids = new Map<string, number>();
  /** As an engine that keeps what it has seen. */
  const seen = new Map<string, RunningContainer>();
  const calls = { listed: 0, failures: 0 };
  const cgroups = { root: machine.at('cgroup'), version: 2, missing: [], mixedIn: [] } as const;
  const scene = nodeUnderTest({ cgroups, options, memory: { ...someMemory, swapBytes } });
  t.after(() => scene.node.engine.close());
  const running = {
    list: async () => {
      calls.listed++;
      if (calls.failures-- > 0) throw new Error('no answer');
      for (const [name, pid] of pids) if (!seen.has(name)) seen.set(name, aRunning(name, pid));
      const containers = [...seen.values()];
      return [{ uid: aPod('web').metadata.uid, name: 'web', namespace: 'default', network: 'pod' as const, containers }];
    },
    stale: (id: string) => void seen.delete(id),
  };
  const { pod, services } = capability({ ...scene.node, engine: { ...scene.node.engine, running } }, machine.at('proc'));
  const service = runServices(services);
  t.after(service.stop);
  const read = async (id: string): Promise<object> =>
    Object.fromEntries(
      await Promise.all(files.map(async (file) => [file, await readFile(machine.at(`cgroup/docker/${id}/${file}`), 'utf8')])),
    );
  return {
    ...scene,
    machine,
    pids,
    calls,
    read,
    prepare: (given: Pod) => pod?.prepare?.(given, never),
    isPrepared: (given: Pod) => pod?.isPrepared?.(given),
    release: (uid: PodUid) => pod?.release?.(uid, never),
    /** Resolves once the container is set to these, and nothing else. */
    until: async (id: string, set: Readonly<Record<string, string>>): Promise<void> => {
      const wanted = { ...untouched, ...set };
      for (let looks = 0; ; looks++) {
        const now = await read(id);
        if (JSON.stringify(now) === JSON.stringify(wanted)) return;
        if (looks > 1000) assert.deepEqual(now, wanted);
        await new Promise(setImmediate);
      }
    },
  };
}

test('a container is killed whole and does not swap from when it is seen to run, and so are those that ran before the agent', async (t) => {
  const node = await aNodeOn(t);
  await node.machine.write({ ...ofCgroup('a', 11), ...ofCgroup('b', 12) });
  const web = podOf(aContainer('a'), aContainer('b'));
  node.pids.set('a', 11);
  node.setStatus(web, runs({ a: '1' }));
  assert.equal(node.isPrepared(web), false);
  await node.prepare(web);
  assert.equal(node.isPrepared(web), true);
  assert.equal(node.isPrepared(structuredClone(web)), false);
  await node.until('a', { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  const { listed } = node.calls;
  node.setStatus(web, runs({ a: '1' }));
  await node.prepare(structuredClone(web));
  node.pids.set('b', 12);
  node.setStatus(web, runs({ a: '1', b: '1' }));
  await node.until('b', { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  assert.equal(node.calls.listed - listed, 1, 'nothing was looked at for a status in which nothing has started');
});

test('a container that the engine has started again by itself is set again, in its new cgroup', async (t) => {
  const node = await aNodeOn(t);
  await node.machine.write(ofCgroup('a', 11));
  const web = podOf(aContainer('a'));
  await node.prepare(web);
  node.pids.set('a', 11);
  node.setStatus(web, runs({ a: '1' }));
  await node.until('a', { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  await rm(node.machine.at('proc/11'), { recursive: true });
  await node.machine.write(ofCgroup('a', 13));
  node.pids.set('a', 13);
  node.setStatus(web, runs({ a: '2' }));
  await node.until('a', { 'memory.oom.group': '1', 'memory.swap.max': '0' });
});

test('with LimitedSwap and MemoryQoS the kernel leaves a container what it asks for and slows it down before its limit; a resize changes that', async (t) => {
  const node = await aNodeOn(t, {
    swapBehavior: 'LimitedSwap',
    memoryReservationPolicy: 'TieredReservation',
    memoryThrottlingFactor: 0.5,
    featureGates: { MemoryQoS: true },
    singleProcessOomKill: true,
  });
  await node.machine.write(ofCgroup('a', 11));
  const asking = (memory: string): Pod => podOf(aContainer('a', { resources: { requests: { memory }, limits: { memory: '128Mi' } } }));
  await node.prepare(asking('32Mi'));
  node.pids.set('a', 11);
  node.setStatus(asking('32Mi'), runs({ a: '1' }));
  await node.until('a', { 'memory.swap.max': `${16 * MI}`, 'memory.low': `${32 * MI}`, 'memory.high': `${80 * MI}` });
  await node.prepare(asking('64Mi'));
  await node.until('a', { 'memory.swap.max': `${32 * MI}`, 'memory.low': `${64 * MI}`, 'memory.high': `${96 * MI}` });
});

test('a pod that was released is forgotten, and another process of the same number is left alone', async (t) => {
  const node = await aNodeOn(t);
  await node.machine.write({ ...ofCgroup('a', 11), ...ofCgroup('b', 12) });
  const web = podOf(aContainer('a'), aContainer('b'));
  await node.prepare(web);
  node.pids.set('a', 12).set('b', 12);
  node.setStatus(web, runs({ a: '1', b: '1' }));
  await node.until('b', { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  await node.until('a', {});
  await node.machine.write(ofCgroup('b', 12));
  await node.release(web.metadata.uid);
  const { listed } = node.calls;
  node.setStatus(web, runs({ b: '2' }));
  while (node.calls.listed === listed) await new Promise(setImmediate);
  await node.until('b', {});
});

test('what cannot be written is reported, and the rest is set', async (t) => {
  const node = await aNodeOn(t);
  await node.machine.write(ofCgroup('a', 11));
  await rm(node.machine.at('cgroup/docker/a/memory.oom.group'));
  await node.machine.write({ 'cgroup/docker/a/memory.oom.group/x': '' });
  const web = podOf(aContainer('a'));
  await node.prepare(web);
  node.pids.set('a', 11);
  node.setStatus(web, runs({ a: '1' }));
  while ((await readFile(node.machine.at('cgroup/docker/a/memory.swap.max'), 'utf8')) === '') await new Promise(setImmediate);
  assert.deepEqual(
    node.log.lines.map(({ level, fields }) => [level, fields['pod'], fields['container'], fields['set']]),
    [['warn', 'default/web', 'a', 'memory.oom.group 1']],
  );
});

test('an engine that does not answer is asked again', async (t) => {
  const node = await aNodeOn(t);
  await node.machine.write(ofCgroup('a', 11));
  const web = podOf(aContainer('a'));
  await node.prepare(web);
  node.pids.set('a', 11);
  node.calls.failures = 2;
  node.setStatus(web, runs({ a: '1' }));
  await node.clock.until(node.until('a', { 'memory.oom.group': '1', 'memory.swap.max': '0' }));
  assert.deepEqual([node.calls.listed, node.log.lines.length], [3, 2]);
});

for (const [name, over, because] of [
  ['cgroup v1', { cgroups: { root: '/dev/null', version: 1, missing: [], mixedIn: [] } }, 'it takes cgroup v2'],
  [
    'a kernel without limits of swap',
    { memory: { ...someMemory, limitsSwap: false } },
    'the kernel cannot limit swap: there is no memory.swap.max',
  ],
] as const)
  test(`with ${name} LimitedSwap has no effect, and is said to have none`, (t) => {
    const scene = nodeUnderTest({ ...over, options: { swapBehavior: 'LimitedSwap' } });
    t.after(() => scene.node.engine.close());
    capability(scene.node);
    assert.deepEqual(
      scene.log.lines.map(({ level, fields }) => [level, fields]),
      [['warn', { option: 'memorySwap.swapBehavior: LimitedSwap', because }]],
    );
  });

test('with cgroup v1 nothing is done', (t) => {
  const scene = nodeUnderTest({ cgroups: { root: '/dev/null', version: 1, missing: [], mixedIn: [] } });
  t.after(() => scene.node.engine.close());
  assert.deepEqual(capability(scene.node), {});
});
