import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMachineMemory } from '../../../src/base/machine-memory.ts';
import { readCgroupHierarchy } from '../../../src/base/cgroup-hierarchy.ts';
import type { Pod } from '../../../src/model/pod.ts';
import { evictingAgent } from '../eviction/evicting-agent.ts';
import { openTestEngine } from './agent-under-test.ts';
import { Changes } from './changes.ts';
import { stays } from './pod-specs.ts';

const MI = 2 ** 20;
const PAGE = 4096;
const pages = (bytes: number): string => `${Math.floor(bytes / PAGE) * PAGE}`;
const files = ['memory.max', 'memory.min', 'memory.low', 'memory.high', 'memory.swap.max', 'memory.oom.group'] as const;

type Resources = NonNullable<Pod['spec']['containers'][number]['resources']>;
const asking = { requests: { cpu: '50m', memory: '64Mi' } };
const equal = { cpu: '50m', memory: '64Mi' };
const with_ = (pod: Pod, resources: Resources): Pod => ({
  ...pod,
  spec: { ...pod.spec, containers: pod.spec.containers.map((container) => ({ ...container, resources })) },
});

test('containers have their limits of memory and swap, and with cgroup v2 what is left to them and when they are slowed down, also over a resize', async (t) => {
  const agent = await evictingAgent(t, {
    swapBehavior: 'LimitedSwap',
    memoryReservationPolicy: 'TieredReservation',
    featureGates: { MemoryQoS: true },
  });
  const engine = openTestEngine('none of ours-', new Changes());
  t.after(() => engine.dispose());
  const limited = with_(agent.pod('limited', stays), { ...asking, limits: { cpu: '100m', memory: '128Mi' } });
  const open = with_(agent.pod('open', stays), asking);
  const guaranteed = with_(agent.pod('guaranteed', stays), { requests: equal, limits: equal });
  const critical = with_({ ...open, ...agent.pod('critical', stays, { priority: 2_000_000_000 }) }, asking);
  const all = [limited, open, guaranteed, critical];
  agent.declare(...all);
  await agent.until('all run', () => all.every((pod) => agent.stateOf(pod) === 'Running'));

  const hierarchy = await readCgroupHierarchy();
  const { bytes, swapBytes } = await readMachineMemory(hierarchy);
  const swap = hierarchy.version === 2 ? Math.trunc((64 * MI * swapBytes) / bytes) : 0;
  const hostConfig = async (pod: Pod) => (await engine.inspect(agent.containerIdOf(pod) ?? '')).HostConfig;
  const memoryAndSwap = async (pod: Pod) => {
    const { Memory, MemorySwap } = await hostConfig(pod);
    return [Memory, MemorySwap];
  };
  assert.deepEqual(await memoryAndSwap(limited), [128 * MI, 128 * MI + swap]);
  assert.deepEqual(await memoryAndSwap(guaranteed), [64 * MI, 64 * MI]);
  assert.deepEqual((await memoryAndSwap(open))[0], 0);
  if (hierarchy.version !== 2) return;

  const read = async (path: string): Promise<Readonly<Record<string, string | undefined>>> =>
    Object.fromEntries(await Promise.all(files.map(async (file) => [file, await agent.cgroups?.read(path, 'memory', file)])));
  const podPath = (pod: Pod): string => `/kubepods${pod === guaranteed ? '' : '/burstable'}/pod${pod.metadata.uid}`;
  const [reserved, none] = [`${64 * MI}`, '0'];
  const high = (most: number): string => pages(64 * MI + (most - 64 * MI) * 0.9);
  const burstable = { 'memory.min': none, 'memory.low': reserved, 'memory.oom.group': '1' };
  const expected = new Map<Pod, object>([
    [limited, { ...burstable, 'memory.max': `${128 * MI}`, 'memory.high': high(128 * MI), 'memory.swap.max': pages(swap) }],
    [open, { ...burstable, 'memory.max': 'max', 'memory.high': high(bytes), 'memory.swap.max': pages(swap) }],
    [critical, { ...burstable, 'memory.max': 'max', 'memory.high': high(bytes), 'memory.swap.max': none }],
    [
      guaranteed,
      {
        'memory.max': reserved,
        'memory.min': reserved,
        'memory.low': none,
        'memory.high': 'max',
        'memory.swap.max': none,
        'memory.oom.group': '1',
      },
    ],
  ]);
  const inCgroup = (pod: Pod): string => `${podPath(pod)}/${agent.containerIdOf(pod)}`;
  for (const [pod, files_] of expected) {
    await agent.until(`${pod.metadata.name} is set`, async () => (await read(inCgroup(pod)))['memory.oom.group'] === '1');
    assert.deepEqual({ ...(await read(inCgroup(pod))) }, { ...orderedAs(files_) }, pod.metadata.name);
  }
  const { 'memory.max': most, 'memory.low': low } = await read(podPath(limited));
  assert.deepEqual([most, low, (await read(podPath(guaranteed)))['memory.min']], [`${128 * MI}`, reserved, reserved]);
  // The classes follow their pods.
  await agent.until('the class of Burstable pods', async () => (await read('/kubepods/burstable'))['memory.low'] === `${192 * MI}`);
  await agent.until('that of all pods', async () => (await read('/kubepods'))['memory.min'] === `${256 * MI}`);

  const resized = with_(limited, { ...asking, limits: { cpu: '200m', memory: '128Mi' } });
  agent.declare(resized, open, guaranteed, critical);
  await agent.until('it has more CPU', async () => (await hostConfig(resized)).CpuQuota === 20_000);
  assert.deepEqual(await read(inCgroup(resized)), orderedAs(expected.get(limited) ?? {}));
});

const orderedAs = (some: object): object => Object.fromEntries(files.map((file) => [file, (some as Record<string, string>)[file]]));
