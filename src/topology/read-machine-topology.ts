import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { namesIn } from '../base/names-in.ts';
import { type CpuSet, inOrder, parseCpuSet } from '../model/cpu-set.ts';
import { type CpuPlace, MachineTopology, type NumaNode } from './machine-topology.ts';

/** Another root is for tests. */
export interface SysPaths {
  readonly root: string;
}

interface Thread {
  readonly cpu: number;
  /** "CORE SOCKET": cores are numbered within sockets. */
  readonly core: string;
  readonly socket: number;
}

interface CacheShare {
  readonly id: number;
  readonly level: number;
  readonly cpus: CpuSet;
}

/**
 * Reads which CPUs are online, and where they are, from /sys (GetNodesInfo in cadvisor's utils/sysinfo). A kernel that tells of no NUMA nodes
 * has one for each socket. Rejects where no CPU can be found.
 */
export async function readMachineTopology({ root }: SysPaths): Promise<MachineTopology> {
  const cpuDir = join(root, 'sys/devices/system/cpu');
  const nodeDir = join(root, 'sys/devices/system/node');
  const online = await onlineCpus(cpuDir);
  const threads = (await Promise.all(online.map((cpu) => readThread(cpuDir, cpu)))).filter((thread) => thread !== undefined);
  const nodes = await numbered(nodeDir, 'node');
  const cpusOf = new Map<number, CpuSet>();
  for (const node of nodes) cpusOf.set(node, new Set(await numbered(join(nodeDir, `node${node}`), 'cpu')));
  const placed =
    nodes.length === 0
      ? threads.map((thread) => ({ thread, node: thread.socket }))
      : threads.flatMap((thread) => {
          const node = nodes.find((each) => cpusOf.get(each)?.has(thread.cpu));
          return node === undefined ? [] : [{ thread, node }];
        });
  if (placed.length === 0) throw new Error(`could not detect number of cpus: ${cpuDir} tells where none is`);
  const threadsOf = Map.groupBy(placed, ({ node }) => node);
  const places = new Map<number, CpuPlace>();
  for (const [node, here] of threadsOf)
    for (const [cpu, place] of await placesIn(
      cpuDir,
      node,
      here.map(({ thread }) => thread),
    ))
      places.set(cpu, place);
  const ids = nodes.length === 0 ? inOrder(threadsOf.keys()) : nodes;
  return new MachineTopology(places, await Promise.all(ids.map((id) => readNode(join(nodeDir, `node${id}`), id))));
}

async function onlineCpus(cpuDir: string): Promise<readonly number[]> {
  const all = await numbered(cpuDir, 'cpu');
  const text = await readText(join(cpuDir, 'online'));
  // Without that file no CPU can be switched off.
  if (text === undefined) return all;
  const online = parseCpuSet(text);
  return all.filter((cpu) => online.has(cpu));
}

/** Undefined: the kernel does not tell where it is. */
async function readThread(cpuDir: string, cpu: number): Promise<Thread | undefined> {
  const at = (name: string): Promise<number | undefined> => readNumber(join(cpuDir, `cpu${cpu}`, 'topology', name));
  const [core, socket] = await Promise.all([at('core_id'), at('physical_package_id')]);
  return core === undefined || socket === undefined ? undefined : { cpu, core: `${core} ${socket}`, socket };
}

async function placesIn(cpuDir: string, node: number, threads: readonly Thread[]): Promise<ReadonlyMap<number, CpuPlace>> {
  const cores = [...Map.groupBy(threads, ({ core }) => core).values()].map((of) => of.toSorted((a, b) => a.cpu - b.cpu));
  const places = new Map<number, CpuPlace>();
  for (const core of cores) {
    const [first] = core;
    if (!first) continue;
    const caches = await readCaches(join(cpuDir, `cpu${first.cpu}`, 'cache'));
    // One that the whole node shares divides nothing.
    const uncore = caches.find(({ level, cpus }) => level > 2 && cpus.size !== cores.length * core.length);
    for (const { cpu, socket } of core) places.set(cpu, { core: first.cpu, socket, node, uncoreCache: uncore?.id ?? socket });
  }
  return places;
}

/** None where the kernel does not tell of all of them. */
async function readCaches(directory: string): Promise<readonly CacheShare[]> {
  const indices = await numbered(directory, 'index');
  const caches = await Promise.all(
    indices.map(async (index) => {
      const at = (name: string): string => join(directory, `index${index}`, name);
      const [id, level, shared] = await Promise.all([readNumber(at('id')), readNumber(at('level')), readText(at('shared_cpu_list'))]);
      return id === undefined || level === undefined || shared === undefined ? undefined : { id, level, cpus: parseCpuSet(shared) };
    }),
  );
  const known = caches.filter((cache) => cache !== undefined);
  return known.length === caches.length ? known : [];
}

async function readNode(directory: string, id: number): Promise<NumaNode> {
  const [memory, sizes, distance] = await Promise.all([
    readText(join(directory, 'meminfo')),
    numbered(join(directory, 'hugepages'), 'hugepages-', 'kB'),
    readText(join(directory, 'distance')),
  ]);
  const hugePages = sizes.map(async (pageSizeKiB) => ({
    pageSizeKiB,
    pages: (await readNumber(join(directory, 'hugepages', `hugepages-${pageSizeKiB}kB`, 'nr_hugepages'))) ?? 0,
  }));
  return {
    id,
    memoryBytes: Number(/MemTotal:\s*(\d+) kB/.exec(memory ?? '')?.[1] ?? 0) * 1024,
    hugePages: await Promise.all(hugePages),
    distances: distance === undefined || distance === '' ? undefined : distance.split(/\s+/).map(Number),
  };
}

/** The numbers N of the entries PREFIXNsuffix, ascending; none where there is no such directory. */
async function numbered(directory: string, prefix: string, suffix = ''): Promise<readonly number[]> {
  const numbers = (await namesIn(directory)).flatMap((name) => {
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) return [];
    const digits = name.slice(prefix.length, name.length - suffix.length);
    return /^\d+$/.test(digits) ? [Number(digits)] : [];
  });
  return inOrder(numbers);
}

/** Undefined: there is no such file. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

/** Undefined: there is no such file, or no number in it. */
async function readNumber(path: string): Promise<number | undefined> {
  const text = await readText(path);
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}
