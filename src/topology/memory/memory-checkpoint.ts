import { isJsonObject } from '../../base/json-object.ts';
import type { PodUid } from '../../model/pod.ts';
import { checkpointSum, ofMap } from '../../model/checkpoint-sum.ts';
import type { MemoryAssignments } from './memory-allocations.ts';
import type { MemoryBlock, MemoryTable, NodeMemories, NodeMemory } from './node-memory.ts';

interface BlockJson {
  readonly numaAffinity: readonly number[];
  readonly type: string;
  readonly size: number;
}

interface NodeJson {
  readonly numberOfAssignments: number;
  readonly memoryMap: Readonly<Record<string, MemoryTable>>;
  readonly cells: readonly number[];
}

type NodesJson = Readonly<Record<string, NodeJson>>;
type EntriesJson = Readonly<Record<string, Readonly<Record<string, readonly BlockJson[]>>>>;

/** memory_manager_state as kubelets before 1.36 write it, and later ones read it (MemoryManagerCheckpoint in pkg/kubelet/cm/memorymanager/state). */
export interface MemoryCheckpoint {
  readonly policyName: string;
  readonly machineState: NodesJson;
  /** By pod's uid and container's name; absent: none. */
  readonly entries?: EntriesJson;
  readonly checksum: number;
}

/** What a checkpoint says: who has what, and what nodes had left by that. */
export interface MemoryState {
  readonly nodes: NodeMemories;
  readonly assignments: MemoryAssignments;
}

const POLICY = 'Static';
/** Of all kubelets but 1.36, and of that one. */
const TYPES = ['MemoryManagerCheckpoint', 'MemoryManagerCheckpointV1'] as const;

export function memoryCheckpoint({ nodes, assignments }: MemoryState): MemoryCheckpoint {
  const machineState = Object.fromEntries([...nodes].map(([id, node]) => [String(id), nodeJson(node)]));
  const ofPod = (containers: ReadonlyMap<string, readonly MemoryBlock[]>): Record<string, readonly BlockJson[]> =>
    Object.fromEntries([...containers].map(([name, blocks]) => [name, blocks.map(blockJson)]));
  const entries = Object.fromEntries([...assignments].map(([uid, containers]) => [uid, ofPod(containers)]));
  const content = { policyName: POLICY, machineState };
  return { ...content, ...(assignments.size > 0 && { entries }), checksum: sumOf(TYPES[0], content, entries) };
}

/**
 * What a checkpoint of the Static policy says. Undefined: it is one of an empty state. Throws with what is wrong: it is damaged, of another
 * policy, or of another kind.
 */
export function readMemoryCheckpoint(json: unknown): MemoryState | undefined {
  if (!isJsonObject(json)) throw new Error('it is no JSON object');
  const { policyName = '', checksum = 0 } = json;
  if (typeof policyName !== 'string') throw new Error('policyName has to be a text');
  const machineState = mapOf(json['machineState'] ?? {}, 'machineState', nodeFrom);
  const entries = mapOf(json['entries'] ?? {}, 'entries', (pod, at) => mapOf(pod, at, blocksFrom));
  // One without a checksum is of the oldest kubelets.
  if (checksum !== 0 && !TYPES.some((type) => sumOf(type, { policyName, machineState }, entries) === checksum))
    throw new Error(`checkpoint is corrupted: its checksum is not ${String(checksum)}`);
  if (policyName !== POLICY)
    throw new Error(`[memorymanager] configured policy "${POLICY}" differs from state checkpoint policy ${JSON.stringify(policyName)}`);
  const nodes = new Map(Object.entries(machineState).map(([id, node]) => [Number(id), nodeOf(node)]));
  const assigned = Object.entries(entries).filter(([, containers]) => Object.keys(containers).length > 0);
  if (nodes.size === 0 && assigned.length === 0) return undefined;
  if (nodes.size === 0) throw new Error('[memorymanager] machine state can not be empty when it has memory assignments');
  const assignments = new Map(
    assigned.map(([uid, containers]) => [
      uid as PodUid,
      new Map(Object.entries(containers).map(([name, blocks]) => [name, blocks.map(blockOf)])),
    ]),
  );
  return { nodes, assignments };
}

const blockJson = ({ nodes, type, size }: MemoryBlock): BlockJson => ({ numaAffinity: nodes, type, size });
const blockOf = ({ numaAffinity, type, size }: BlockJson): MemoryBlock => ({ nodes: inOrder(numaAffinity), type, size });
const nodeJson = ({ assignments, tables, group }: NodeMemory): NodeJson => ({
  numberOfAssignments: assignments,
  memoryMap: Object.fromEntries(tables),
  cells: group,
});
const nodeOf = ({ numberOfAssignments, memoryMap, cells }: NodeJson): NodeMemory => ({
  assignments: numberOfAssignments,
  tables: new Map(Object.entries(memoryMap)),
  group: inOrder(cells),
});
const inOrder = (ids: readonly number[]): readonly number[] => ids.toSorted((a, b) => a - b);

function sumOf(
  type: string,
  { policyName, machineState }: Pick<MemoryCheckpoint, 'policyName' | 'machineState'>,
  entries: EntriesJson,
): number {
  return checkpointSum(type, [
    ['PolicyName', 'string', policyName],
    ['MachineState', 'state.NUMANodeMap', printNodes(machineState)],
    ['Entries', 'state.ContainerMemoryAssignments', ofMap(entries, (pod) => ofMap(pod, (blocks) => list(blocks.map(printBlock))))],
  ]);
}

const list = (items: readonly (string | number)[]): string => `[${items.join(' ')}]`;

function printNodes(nodes: NodesJson): string {
  const sorted = Object.entries(nodes).toSorted(([a], [b]) => Number(a) - Number(b));
  return `map[${sorted.map(([id, node]) => `${id}:<*>${printNode(node)}`).join(' ')}]`;
}

const printNode = ({ numberOfAssignments, memoryMap, cells }: NodeJson): string =>
  `{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${ofMap(memoryMap, printTable)} Cells:([]int)${list(cells)}}`;

const printTable = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable): string =>
  `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`;

const printBlock = ({ numaAffinity, type, size }: BlockJson): string =>
  `{NUMAAffinity:([]int)${list(numaAffinity)} Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;

/** How a part is read; `at` says where it is. Throws with what is wrong. */
type Read<T> = (value: unknown, at: string) => T;

function mapOf<T>(value: unknown, at: string, read: Read<T>): Readonly<Record<string, T>> {
  if (!isJsonObject(value)) throw new Error(`${at} has to be an object`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, read(each, `${at}.${name}`)]));
}

const count: Read<number> = (value, at) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Error(`${at} has to be a whole number, 0 or more`);
  return value;
};

const ids: Read<readonly number[]> = (value, at) => {
  if (!Array.isArray(value)) throw new Error(`${at} has to be a list of NUMA nodes`);
  return value.map((each: unknown, index) => {
    const id = count(each, `${at}[${index}]`);
    if (id > 63) throw new Error(`${at}[${index}]: NUMA node ${id}: only nodes 0 to 63 can be told apart`);
    return id;
  });
};

const tableFrom: Read<MemoryTable> = (value, at) => {
  const table = mapOf(value, at, count);
  const { total = 0, systemReserved = 0, allocatable = 0, reserved = 0, free = 0 } = table;
  return { total, systemReserved, allocatable, reserved, free };
};

const nodeFrom: Read<NodeJson> = (value, at) => {
  if (!isJsonObject(value)) throw new Error(`${at} has to be an object`);
  const { numberOfAssignments = 0, memoryMap = {}, cells = [] } = value;
  return {
    numberOfAssignments: count(numberOfAssignments, `${at}.numberOfAssignments`),
    memoryMap: mapOf(memoryMap, `${at}.memoryMap`, tableFrom),
    cells: ids(cells, `${at}.cells`),
  };
};

const blocksFrom: Read<readonly BlockJson[]> = (value, at) => {
  if (!Array.isArray(value)) throw new Error(`${at} has to be a list`);
  return value.map((block: unknown, index) => {
    const where = `${at}[${index}]`;
    if (!isJsonObject(block)) throw new Error(`${where} has to be an object`);
    const { numaAffinity = [], type = '', size = 0 } = block;
    if (typeof type !== 'string') throw new Error(`${where}.type has to be a text`);
    return { numaAffinity: ids(numaAffinity, `${where}.numaAffinity`), type, size: count(size, `${where}.size`) };
  });
};
