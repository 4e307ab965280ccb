import type { CgroupPaths } from '../base/cgroup-paths.ts';
import type { Clock } from '../base/clock.ts';
import type { CpuStats, MemoryStats } from '../ports/pod-stats.ts';
import type { CgroupReader } from './cgroup-reader.ts';
import { CpuRates, FIRST_WINDOW_MS } from './cpu-rates.ts';

/** So many are read before others have their turn: a few milliseconds. */
const SLICE = 32;

export interface CgroupTarget {
  readonly key: string;
  readonly paths: CgroupPaths;
  /** When its counters were zero, if that is known. */
  readonly startedAtMs?: number;
}

export interface Consumption {
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
}

export interface CgroupMeterDeps {
  readonly clock: Clock;
  readonly reader: CgroupReader;
  readonly signal: AbortSignal;
}

/** Processors and memory of many cgroups, with rates. What was not asked about before takes a moment longer: a rate needs two samples. */
export class CgroupMeter {
  readonly #deps: CgroupMeterDeps;
  readonly #rates = new CpuRates();

  constructor(deps: CgroupMeterDeps) {
    this.#deps = deps;
  }

  /** By key. Empty for a cgroup that is gone. Whatever is not among `targets` is forgotten. */
  async measure(targets: readonly CgroupTarget[]): Promise<ReadonlyMap<string, Consumption>> {
    const { clock, reader, signal } = this.#deps;
    this.#rates.keep(new Set(targets.map(({ key }) => key)));
    const cpuOf = ({ key, paths, startedAtMs }: CgroupTarget): CpuStats | undefined => {
      const use = reader.cpu(paths);
      if (use === undefined) return undefined;
      const atMs = clock.now();
      const ageMs = startedAtMs === undefined ? undefined : atMs - startedAtMs;
      const usageNanoCores = this.#rates.rate(key, { atMs: clock.monotonicMs(), ...use }, ageMs);
      return { atMs, ...use, ...(usageNanoCores === undefined ? {} : { usageNanoCores }) };
    };
    const memoryOf = ({ paths }: CgroupTarget): MemoryStats | undefined => {
      const use = reader.memory(paths);
      return use && { atMs: clock.now(), ...use };
    };
    const first: { target: CgroupTarget; cpu: CpuStats | undefined; memory: MemoryStats | undefined }[] = [];
    for (const [i, target] of targets.entries()) {
      if (i > 0 && i % SLICE === 0) await clock.sleep(0, signal);
      first.push({ target, cpu: cpuOf(target), memory: memoryOf(target) });
    }
    const unknown = first.filter(({ cpu }) => cpu !== undefined && cpu.usageNanoCores === undefined);
    const again = new Map<string, CpuStats>();
    if (unknown.length > 0) {
      await clock.sleep(FIRST_WINDOW_MS, signal);
      for (const { target } of unknown) {
        const cpu = cpuOf(target);
        if (cpu) again.set(target.key, cpu);
      }
    }
    return new Map(
      first.map(({ target: { key }, cpu: before, memory }) => {
        const cpu = again.get(key) ?? before;
        return [key, { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) }];
      }),
    );
  }
}

/** What several use together; undefined when none is known. */
export function sumOf(parts: readonly Consumption[]): Consumption {
  const cpu = parts.flatMap((part) => part.cpu ?? []).reduce<CpuStats | undefined>(addCpu, undefined);
  const memory = parts.flatMap((part) => part.memory ?? []).reduce<MemoryStats | undefined>(addMemory, undefined);
  return { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) };
}

function addCpu(a: CpuStats | undefined, b: CpuStats): CpuStats {
  const nanoCores = a?.usageNanoCores ?? b.usageNanoCores;
  return {
    atMs: Math.max(a?.atMs ?? 0, b.atMs),
    usageCoreNanoSeconds: (a?.usageCoreNanoSeconds ?? 0) + b.usageCoreNanoSeconds,
    ...(nanoCores === undefined ? {} : { usageNanoCores: (a?.usageNanoCores ?? 0) + (b.usageNanoCores ?? 0) }),
  };
}

function addMemory(a: MemoryStats | undefined, b: MemoryStats): MemoryStats {
  const sum = (of: (stats: MemoryStats) => number): number => (a ? of(a) : 0) + of(b);
  return {
    atMs: Math.max(a?.atMs ?? 0, b.atMs),
    usageBytes: sum(({ usageBytes }) => usageBytes),
    workingSetBytes: sum(({ workingSetBytes }) => workingSetBytes),
    rssBytes: sum(({ rssBytes }) => rssBytes),
    pageFaults: sum(({ pageFaults }) => pageFaults),
    majorPageFaults: sum(({ majorPageFaults }) => majorPageFaults),
    swapBytes: sum(({ swapBytes = 0 }) => swapBytes),
  };
}
