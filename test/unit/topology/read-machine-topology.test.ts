import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { formatCpuSet } from '../../../src/model/cpu-set.ts';
import type { MachineTopology } from '../../../src/topology/machine-topology.ts';
import { readMachineTopology } from '../../../src/topology/read-machine-topology.ts';
import { type MachineShape, someMachine, writeMachine } from '../../builders/machine.ts';

async function emptyRoot(t: TestContext): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'machine-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  return root;
}

const levels = ['core', 'socket', 'node', 'uncoreCache'] as const;
const seen = (machine: MachineTopology) => ({
  places: [...machine.cpus].map((cpu) => [cpu, machine.placeOf(cpu)]),
  nodes: machine.nodes,
  counts: levels.map((level) => [level, machine.countOf(level), machine.cpusPer(level)]),
});

const gib = 2 ** 30;
const machines: Readonly<Record<string, MachineShape>> = {
  'one socket of two cores': {},
  'two sockets with hyperthreading': { sockets: 2, cores: 6, threads: 2 },
  'four NUMA nodes in each socket': { sockets: 2, nodes: 4, cores: 8, threads: 2, memoryBytes: 4 * gib },
  'four level 3 caches in a node': { cores: 16, threads: 2, caches: 4 },
  'holes in the numbers of NUMA nodes': { sockets: 2, nodes: 2, cores: 2, nodeIds: [0, 1, 8, 9] },
  'CPUs that are off': { sockets: 2, cores: 4, threads: 2, offline: [1, 9, 12] },
  'huge pages': {
    hugePages: [
      { pageSizeKiB: 2048, pages: 16 },
      { pageSizeKiB: 1_048_576, pages: 2 },
    ],
  },
};

for (const [name, shape] of Object.entries(machines))
  test(`a machine is read as it is: ${name}`, async (t) => {
    const root = await emptyRoot(t);
    await writeMachine(root, shape);
    assert.deepEqual(seen(await readMachineTopology({ root })), seen(someMachine(shape)));
  });

test('where no NUMA nodes are told of, each socket is one', async (t) => {
  const root = await emptyRoot(t);
  const shape = { sockets: 2, cores: 2, threads: 2 } as const;
  await writeMachine(root, shape);
  await rm(join(root, 'sys/devices/system/node'), { recursive: true });
  const machine = await readMachineTopology({ root });
  assert.deepEqual(machine.idsOf('node'), [0, 1]);
  assert.equal(formatCpuSet(machine.cpusIn('node', 1)), '2-3,6-7');
  assert.deepEqual(machine.nodes[1], { id: 1, memoryBytes: 0, hugePages: [], distances: undefined });
});

test('without a list of those that are on, all CPUs are', async (t) => {
  const root = await emptyRoot(t);
  await writeMachine(root, { cores: 3 });
  await rm(join(root, 'sys/devices/system/cpu/online'));
  assert.equal(formatCpuSet((await readMachineTopology({ root })).cpus), '0-2');
});

test('a cache of which something is not told divides nothing', async (t) => {
  const root = await emptyRoot(t);
  await writeMachine(root, { cores: 8, caches: 2 });
  for (let cpu = 0; cpu < 8; cpu++) await rm(join(root, `sys/devices/system/cpu/cpu${cpu}/cache/index3/id`));
  assert.equal((await readMachineTopology({ root })).countOf('uncoreCache'), 1);
});

test('a machine that tells of no CPU is not guessed at', async (t) => {
  const root = await emptyRoot(t);
  await assert.rejects(readMachineTopology({ root }), /could not detect number of cpus/);
  await mkdir(join(root, 'sys/devices/system/cpu/cpu0'), { recursive: true });
  await assert.rejects(readMachineTopology({ root }), /could not detect number of cpus/);
  await writeFile(join(root, 'sys/devices/system/cpu/online'), 'all\n');
  await assert.rejects(readMachineTopology({ root }), /parsing "all": invalid syntax/);
});

test('this machine has the CPUs that it is said to have', async () => {
  const machine = await readMachineTopology({ root: '/' });
  assert.ok(machine.cpus.size > 0);
  assert.equal(
    machine.nodes.reduce((sum, { id }) => sum + machine.cpusIn('node', id).size, 0),
    machine.cpus.size,
  );
});
