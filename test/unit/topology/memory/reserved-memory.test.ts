import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceList } from '../../../../src/model/node.ts';
import { reservedMemory } from '../../../../src/topology/memory/reserved-memory.ts';
import { someMachine } from '../../../builders/machine.ts';

type Reservations = Parameters<typeof reservedMemory>[1];

const GIB = 2 ** 30;
const { nodes } = someMachine({ nodes: 2, memoryBytes: 4 * GIB, hugePages: [{ pageSizeKiB: 2 ** 20, pages: 2 }] });
const setting = 'reservedMemory (--reserved-memory): ';

test('what is reserved of each node is, all together, what the node reserves', () => {
  const reservations = [{ limits: { memory: '1Gi' } }, { numaNode: 1, limits: { memory: '0.5Gi' } }];
  const reserved = reservedMemory(nodes, reservations, { cpu: '1', memory: '1536Mi' });
  assert.deepEqual(
    [...reserved].map(([id, amounts]) => [id, amounts.get('memory')]),
    [
      [0, GIB],
      [1, GIB / 2],
    ],
  );
});

const notEqual = (sum: string, type: string, wanted: string): string =>
  `${setting}the total amount "${sum}" of type "${type}" is not equal to the value "${wanted}" determined by Node Allocatable feature: make it the sum of what kubeReserved, systemReserved and evictionHard say of it`;

for (const [what, reservations, ofNode, message] of [
  ['nothing of what the node reserves', [], { memory: '100Mi' }, notEqual('0', 'memory', '100Mi')],
  ['less', [{ numaNode: 0, limits: { memory: '1Gi' } }], { memory: '1124Mi' }, notEqual('1Gi', 'memory', '1124Mi')],
  ['what the node does not reserve', [{ numaNode: 0, limits: { memory: '1Gi' } }], {}, notEqual('1Gi', 'memory', '0')],
  [
    'huge pages, of which no node reserves any',
    [{ numaNode: 0, limits: { memory: '1Gi', 'hugepages-1Gi': '1Gi' } }],
    { memory: '1Gi' },
    notEqual('1Gi', 'hugepages-1Gi', '0'),
  ],
  [
    'of a node that is not there',
    [{ numaNode: 2, limits: { memory: '1Gi' } }],
    { memory: '1Gi' },
    `${setting}the reserved memory configuration references a NUMA node 2 that does not exist on this machine, which has 0,1`,
  ],
  [
    'nothing at all',
    [],
    {},
    `${setting}[memorymanager] you should specify the system reserved memory: memoryManagerPolicy Static needs a reservation of memory in kubeReserved, systemReserved or evictionHard, and reservedMemory (--reserved-memory) to say from which NUMA nodes it is`,
  ],
  [
    'more than the node has besides its huge pages',
    [{ numaNode: 1, limits: { memory: '3Gi' } }],
    { memory: '3Gi' },
    `${setting}${3 * GIB} bytes of memory are reserved of NUMA node 1, which has ${2 * GIB}: reserve less of it`,
  ],
] as const satisfies readonly (readonly [string, Reservations, ResourceList, string])[])
  test(`the agent does not start where it is reserved: ${what}`, () => {
    assert.throws(() => reservedMemory(nodes, reservations, ofNode), { message });
  });
