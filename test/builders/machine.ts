import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type CpuPlace, MachineTopology, type NumaNode } from '../../src/topology/machine-topology.ts';

export interface MachineShape {
  readonly sockets?: number;
  /** In each socket. */
  readonly nodes?: number;
  /** In each node. */
  readonly cores?: number;
  /** Of each core; the second ones are numbered after all first ones. */
  readonly threads?: 1 | 2;
  /** Caches of level 3 in each node. */
  readonly caches?: number;
  readonly offline?: readonly number[];
  /** What the nodes are called, where they have no running numbers. */
  readonly nodeIds?: readonly number[];
  readonly memoryBytes?: number;
  readonly hugePages?: NumaNode['hugePages'];
}

interface Thread extends CpuPlace {
  readonly cpu: number;
  readonly coreInSocket: number;
}

const GIB = 2 ** 30;

function layOut({
  sockets = 1,
  nodes = 1,
  cores = 2,
  threads = 1,
  caches = 1,
  offline = [],
  nodeIds = [],
}: MachineShape): readonly Thread[] {
  const all = sockets * nodes * cores;
  return Array.from({ length: all * threads }, (_, cpu) => {
    const first = cpu % all;
    const place = Math.trunc(first / cores);
    const socket = Math.trunc(place / nodes);
    const cache = place * caches + Math.trunc(((first % cores) * caches) / cores);
    const core = offline.includes(first) ? cpu : first;
    const node = nodeIds[place] ?? place;
    return { cpu, core, socket, node, uncoreCache: caches > 1 ? cache : socket, coreInSocket: first % (nodes * cores) };
  }).filter(({ cpu }) => !offline.includes(cpu));
}

/** To itself 10, to others of the socket 12, to the rest 20. */
function distancesFrom(node: number, threads: readonly Thread[]): readonly number[] {
  const socketOf = new Map(threads.map((thread) => [thread.node, thread.socket]));
  const ids = [...socketOf.keys()].toSorted((a, b) => a - b);
  return ids.map((id) => (id === node ? 10 : socketOf.get(id) === socketOf.get(node) ? 12 : 20));
}

export function someMachine(shape: MachineShape = {}): MachineTopology {
  const threads = layOut(shape);
  const ids = [...new Set(threads.map(({ node }) => node))].toSorted((a, b) => a - b);
  const { memoryBytes = GIB, hugePages = [] } = shape;
  const places = threads.map(({ cpu, core, socket, node, uncoreCache }) => [cpu, { core, socket, node, uncoreCache }] as const);
  return new MachineTopology(
    new Map(places),
    ids.map((id) => ({ id, memoryBytes, hugePages, distances: distancesFrom(id, threads) })),
  );
}

/** The machine's /sys below `root`, as a kernel shows it. */
export async function writeMachine(root: string, shape: MachineShape): Promise<void> {
  const threads = layOut(shape);
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(root, 'sys/devices/system', path)), { recursive: true });
    await writeFile(join(root, 'sys/devices/system', path), `${content}\n`);
  };
  await write('cpu/online', threads.map(({ cpu }) => cpu).join(','));
  await write('cpu/cpufreq/boost', '1');
  const { memoryBytes = GIB, hugePages = [], offline = [], caches = 1 } = shape;
  // Of one that is off the directory stays, without its topology.
  for (const cpu of offline) await write(`cpu/cpu${cpu}/online`, '0');
  for (const { cpu, socket, node, uncoreCache, coreInSocket } of threads) {
    await write(`cpu/cpu${cpu}/topology/core_id`, `${coreInSocket}`);
    await write(`cpu/cpu${cpu}/topology/physical_package_id`, `${socket}`);
    const sharing = threads.filter((other) => other.node === node && (caches === 1 || other.uncoreCache === uncoreCache));
    await write(`cpu/cpu${cpu}/cache/index0/level`, '1');
    await write(`cpu/cpu${cpu}/cache/index0/id`, `${cpu}`);
    await write(`cpu/cpu${cpu}/cache/index0/shared_cpu_list`, `${cpu}`);
    await write(`cpu/cpu${cpu}/cache/index3/level`, '3');
    await write(`cpu/cpu${cpu}/cache/index3/id`, `${uncoreCache}`);
    await write(`cpu/cpu${cpu}/cache/index3/shared_cpu_list`, sharing.map((other) => other.cpu).join(','));
    // A link to the CPU's own directory.
    await write(`node/node${node}/cpu${cpu}/here`, '');
  }
  for (const node of new Set(threads.map((thread) => thread.node))) {
    await write(`node/node${node}/meminfo`, `Node ${node} MemTotal:       ${memoryBytes / 1024} kB\nNode ${node} MemFree:        1 kB`);
    await write(`node/node${node}/distance`, distancesFrom(node, threads).join(' '));
    for (const { pageSizeKiB, pages } of hugePages)
      await write(`node/node${node}/hugepages/hugepages-${pageSizeKiB}kB/nr_hugepages`, `${pages}`);
  }
}
