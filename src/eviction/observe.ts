import type { FilesystemLayout } from '../model/eviction/container-fs-thresholds.ts';
import type { Signal } from '../model/eviction/threshold.ts';
import { Quantity } from '../model/quantity.ts';
import type { FilesystemStats, NodeUsage } from '../ports/pod-stats.ts';

/** What there is, and how much of it is left: bytes, inodes or processes. */
export interface Observation {
  readonly available: Quantity;
  readonly capacity: Quantity;
  /** The date of the measurement. */
  readonly atMs: number;
}

export type Observations = ReadonlyMap<Signal, Observation>;

export interface Observed {
  readonly observations: Observations;
  /** What of the other signals was found, and cannot be. */
  readonly faults: ReadonlyMap<Signal, string>;
  /** Undefined: it cannot be told now. */
  readonly layout: FilesystemLayout | undefined;
}

/** What a signal's numbers are made of: undefined, they were not measured. */
interface Numbers {
  readonly available: number | undefined;
  readonly capacity: number | undefined;
  readonly atMs: number;
}

/**
 * What is left of everything that a node may run short of (makeSignalObservations in pkg/kubelet/eviction). Numbers that cannot be are left
 * out, so that no pod is ended for them. `memoryBytes` is the machine's, where that is known.
 */
export function observe(node: NodeUsage, memoryBytes: number | undefined): Observed {
  const observations = new Map<Signal, Observation>();
  const faults = new Map<Signal, string>();
  const set = (signal: Signal, unit: 'bytes' | 'count', numbers: Numbers | undefined): void => {
    if (numbers?.available === undefined || numbers.capacity === undefined) return;
    const { available, capacity, atMs } = numbers;
    const fault = faultOf(available, capacity);
    if (fault !== undefined) {
      faults.set(signal, fault);
      return;
    }
    const amount = (count: number): Quantity => Quantity.of(Math.trunc(count), unit === 'bytes' ? 'BinarySI' : 'DecimalSI');
    observations.set(signal, { available: amount(available), capacity: amount(capacity), atMs });
  };

  const ofNode = memoryOf(node.memory);
  // A working set that is larger than the machine is no measurement.
  const tooLarge = memoryBytes !== undefined && ofNode?.capacity !== undefined && ofNode.capacity > memoryBytes;
  if (tooLarge) faults.set('memory.available', `${ofNode.capacity} bytes in use and available, of ${memoryBytes}`);
  else set('memory.available', 'bytes', ofNode);
  set('allocatableMemory.available', 'bytes', memoryOf(node.systemContainers.find(({ name }) => name === 'pods')?.memory));
  set('nodefs.available', 'bytes', bytesOf(node.fs));
  set('nodefs.inodesFree', 'count', inodesOf(node.fs));
  // An engine's images and what its containers write lie on one file system.
  for (const name of ['imagefs', 'containerfs'] as const) {
    set(`${name}.available`, 'bytes', bytesOf(node.imageFs));
    set(`${name}.inodesFree`, 'count', inodesOf(node.imageFs));
  }
  const { pids } = node;
  // More than the most there may be is none left: the limit may have been lowered.
  if (pids) set('pid.available', 'count', { available: Math.max(0, pids.max - pids.running), capacity: pids.max, atMs: pids.atMs });
  return { observations, faults, layout: layoutOf(node) };
}

function faultOf(available: number, capacity: number): string | undefined {
  const found = `${available} of ${capacity} available`;
  if (!Number.isFinite(available) || !Number.isFinite(capacity)) return found;
  return capacity <= 0 || available < 0 || available > capacity ? found : undefined;
}

const memoryOf = (memory: NodeUsage['memory']): Numbers | undefined =>
  memory && {
    available: memory.availableBytes,
    capacity: memory.availableBytes === undefined ? undefined : memory.availableBytes + memory.workingSetBytes,
    atMs: memory.atMs,
  };
const bytesOf = (fs: FilesystemStats | undefined): Numbers | undefined =>
  fs && { available: fs.availableBytes, capacity: fs.capacityBytes, atMs: fs.atMs };
const inodesOf = (fs: FilesystemStats | undefined): Numbers | undefined =>
  fs && { available: fs.inodesFree, capacity: fs.inodes, atMs: fs.atMs };

function layoutOf({ fs, imageFs }: NodeUsage): FilesystemLayout | undefined {
  if (fs?.fileSystem === undefined || imageFs?.fileSystem === undefined) return undefined;
  return { imageFs: fs.fileSystem !== imageFs.fileSystem, splitFs: false };
}

/** Why there are no numbers; undefined: there need not be any. */
export function unmeasured(signal: Signal, { systemContainers }: NodeUsage): string | undefined {
  // Without a limit on all pods together there is nothing that could run short.
  if (signal === 'allocatableMemory.available' && systemContainers.some(({ name }) => name === 'pods')) return undefined;
  return 'nothing';
}

/** For the log. */
export const shown = (observations: Observations): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...observations].map(([signal, { available, capacity }]) => [signal, `${available.canonical()} of ${capacity.canonical()}`]),
  );
