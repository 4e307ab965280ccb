import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodUid } from '../../../../src/model/pod.ts';
import { checkpointSum } from '../../../../src/model/checkpoint-sum.ts';
import { blocksIn, type MemoryAssignments } from '../../../../src/topology/memory/memory-allocations.ts';
import { memoryCheckpoint, readMemoryCheckpoint } from '../../../../src/topology/memory/memory-checkpoint.ts';
import { memoryStateFault } from '../../../../src/topology/memory/memory-state-fault.ts';
import { unassignedMemory, withBlocks } from '../../../../src/topology/memory/node-memory.ts';
import { someMachine } from '../../../builders/machine.ts';

const faultIn = (json: unknown): string => {
  try {
    const read = readMemoryCheckpoint(json);
    return read === undefined ? 'nothing' : 'something';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const memory = { total: 2048, systemReserved: 512, allocatable: 1536, reserved: 512, free: 1024 };
const machineState = { '0': { numberOfAssignments: 0, memoryMap: { memory }, cells: [] } };
const entries = { pod: { container1: [{ numaAffinity: [0], type: 'memory', size: 512 }] } };

/** A checksum of Kubernetes' own test cases. Their policy is "static": that it is refused shows that the checksum was right. */
test('a checkpoint of the kubelet has the checksum that is computed here', () => {
  const ofKubernetes = '[memorymanager] configured policy "Static" differs from state checkpoint policy "static"';
  assert.equal(faultIn({ policyName: 'static', machineState, entries, checksum: 4_215_593_881 }), ofKubernetes);
  assert.equal(
    faultIn({ policyName: 'static', machineState, entries, checksum: 101_010 }),
    'checkpoint is corrupted: its checksum is not 101010',
  );
});

const MIB = 2 ** 20;
const unassigned = unassignedMemory(
  someMachine({ nodes: 12, memoryBytes: 100 * MIB, hugePages: [{ pageSizeKiB: 2048, pages: 4 }] }).nodes,
  new Map([[0, new Map([['memory', 10 * MIB]])]]),
);
const assigned: MemoryAssignments = new Map([
  [
    'b' as PodUid,
    new Map([
      [
        'app',
        [
          { nodes: [2, 10], type: 'memory', size: 150 * MIB },
          { nodes: [2, 10], type: 'hugepages-2Mi', size: 2 * MIB },
        ],
      ],
    ]),
  ],
  [
    'a' as PodUid,
    new Map([
      ['init', [{ nodes: [0], type: 'memory', size: 0 }]],
      ['app', [{ nodes: [0], type: 'memory', size: MIB }]],
    ]),
  ],
]);
const state = { nodes: withBlocks(unassigned, blocksIn(assigned)), assignments: assigned };

test('what is written is read again, and any change of it is noticed', () => {
  const checkpoint = memoryCheckpoint(state);
  assert.deepEqual(Object.keys(checkpoint), ['policyName', 'machineState', 'entries', 'checksum']);
  assert.deepEqual(checkpoint.machineState['10'], {
    numberOfAssignments: 2,
    memoryMap: {
      'hugepages-2Mi': { total: 8 * MIB, systemReserved: 0, allocatable: 8 * MIB, reserved: 0, free: 8 * MIB },
      memory: { total: 100 * MIB, systemReserved: 0, allocatable: 92 * MIB, reserved: 58 * MIB, free: 34 * MIB },
    },
    cells: [2, 10],
  });
  const text = JSON.stringify(checkpoint);
  const read = readMemoryCheckpoint(JSON.parse(text));
  assert.deepEqual(read?.assignments, assigned);
  assert.deepEqual(read.nodes, state.nodes);
  assert.equal(memoryStateFault(read, unassigned), undefined);
  for (const [from, to] of [
    ['"cells":[2,10]', '"cells":[2,11]'],
    ['"app":', '"appp":'],
    ['"b":', '"c":'],
    [`"size":${MIB}`, `"size":${MIB + 1}`],
    ['"numberOfAssignments":2', '"numberOfAssignments":3'],
  ] as const)
    assert.match(faultIn(JSON.parse(text.replace(from, to))), /checkpoint is corrupted/, from);
});

test('checkpoints of the kubelets of 1.36 and later are read, too', () => {
  const fields = [
    ['PolicyName', 'string', 'Static'],
    ['MachineState', 'state.NUMANodeMap', 'map[]'],
    ['Entries', 'state.ContainerMemoryAssignments', 'map[]'],
  ] as const;
  const content = { policyName: 'Static', machineState: {} };
  assert.equal(faultIn({ ...content, checksum: checkpointSum('MemoryManagerCheckpointV1', fields) }), 'nothing');
  assert.equal(faultIn({ ...content, checksum: checkpointSum('MemoryManagerCheckpoint', fields), data: '{}', dataChecksum: 1 }), 'nothing');
  assert.match(faultIn({ ...content, checksum: checkpointSum('CPUManagerCheckpoint', fields) }), /checkpoint is corrupted/);
});

test('entries are left out where there are none, as the kubelet does', () => {
  const empty = memoryCheckpoint({ nodes: unassigned, assignments: new Map() });
  assert.deepEqual(Object.keys(empty), ['policyName', 'machineState', 'checksum']);
  assert.equal(faultIn(JSON.parse(JSON.stringify(empty))), 'something');
});

for (const [what, json, words] of [
  ['nothing yet', { policyName: 'Static', machineState: {} }, 'nothing'],
  ['nothing but its policy', { policyName: 'Static', machineState: null, entries: null }, 'nothing'],
  [
    'assignments without nodes',
    { policyName: 'Static', entries },
    '[memorymanager] machine state can not be empty when it has memory assignments',
  ],
  [
    'another policy',
    { policyName: 'None', machineState: {} },
    '[memorymanager] configured policy "Static" differs from state checkpoint policy "None"',
  ],
  ['a list', [], 'it is no JSON object'],
  ['a number as policy', { policyName: 1 }, 'policyName has to be a text'],
  ['nodes of another kind', { policyName: 'Static', machineState: [] }, 'machineState has to be an object'],
  ['a node of another kind', { policyName: 'Static', machineState: { '0': 1 } }, 'machineState.0 has to be an object'],
  [
    'a negative amount',
    { policyName: 'Static', machineState: { '0': { memoryMap: { memory: { free: -1 } } } } },
    'machineState.0.memoryMap.memory.free has to be a whole number, 0 or more',
  ],
  [
    'an amount that is not exact',
    { policyName: 'Static', machineState: { '0': { memoryMap: { memory: { free: 2 ** 60 } } } } },
    'machineState.0.memoryMap.memory.free has to be a whole number, 0 or more',
  ],
  [
    'nodes of a block that cannot be',
    { policyName: 'Static', entries: { a: { b: [{ numaAffinity: [64] }] } } },
    'entries.a.b[0].numaAffinity[0]: NUMA node 64: only nodes 0 to 63 can be told apart',
  ],
  ['blocks of another kind', { policyName: 'Static', entries: { a: { b: {} } } }, 'entries.a.b has to be a list'],
  ['a block of another kind', { policyName: 'Static', entries: { a: { b: ['all'] } } }, 'entries.a.b[0] has to be an object'],
  [
    'no list of nodes',
    { policyName: 'Static', entries: { a: { b: [{ numaAffinity: 1 }] } } },
    'entries.a.b[0].numaAffinity has to be a list of NUMA nodes',
  ],
  ['a number as kind', { policyName: 'Static', entries: { a: { b: [{ type: 1 }] } } }, 'entries.a.b[0].type has to be a text'],
] as const)
  test(`a checkpoint with ${what}`, () => assert.equal(faultIn(json), words));

const changed = '[memorymanager] the expected machine state is different from the real one: ';
const smaller = (over: object): typeof unassigned =>
  unassignedMemory(someMachine({ nodes: 12, memoryBytes: 100 * MIB, ...over }).nodes, new Map());
for (const [what, machine, fault] of [
  [
    'the node reserves less',
    smaller({ hugePages: [{ pageSizeKiB: 2048, pages: 4 }] }),
    `${changed}NUMA node 0: systemReserved of memory is ${10 * MIB}, and 0 by now`,
  ],
  [
    'there are no such nodes any more',
    smaller({ nodes: 1 }),
    '[memorymanager] (pod: b, container: app) the memory assignment uses the NUMA that does not exist',
  ],
  [
    'there are no such huge pages any more',
    smaller({}),
    '[memorymanager] (pod: b, container: app) the memory assignment uses memory resource that does not exist',
  ],
] as const)
  test(`what was assigned does not fit: ${what}`, () => assert.equal(memoryStateFault(state, machine), fault));

test('what is left has to follow from who has what', () => {
  const faultOf = (assignments: MemoryAssignments): string | undefined => memoryStateFault({ nodes: state.nodes, assignments }, unassigned);
  const [[, b]] = [...assigned] as [[PodUid, ReadonlyMap<string, readonly never[]>]];
  assert.equal(faultOf(new Map([['b' as PodUid, b]])), `${changed}NUMA node 0: 2 assignments, and 0 are written down`);
  const other = new Map(assigned).set(
    'a' as PodUid,
    new Map([
      [
        'x',
        [
          { nodes: [0], type: 'memory', size: 1 },
          { nodes: [0], type: 'memory', size: 1 },
        ],
      ],
    ]),
  );
  assert.equal(faultOf(other), `${changed}NUMA node 0: free of memory is ${81 * MIB}, and by the assignments ${82 * MIB - 2}`);
});
