import type { CpuStats, MemoryStats } from '../ports/pod-stats.ts';

/** The files of one cgroup, by name; undefined: not there. */
export type CgroupFiles<Name extends string> = Readonly<Record<Name, string | undefined>>;

export const cpuFilesV1 = ['cpuacct.usage', 'cpuacct.stat', 'cpu.stat'] as const;
export const memoryFilesV1 = [
  'memory.usage_in_bytes',
  'memory.max_usage_in_bytes',
  'memory.failcnt',
  'memory.stat',
  'memory.limit_in_bytes',
  'memory.oom_control',
] as const;
export const cpuFilesV2 = ['cpu.stat'] as const;
export const memoryFilesV2 = [
  'memory.current',
  'memory.peak',
  'memory.events',
  'memory.stat',
  'memory.swap.current',
  'memory.swap.max',
  'memory.max',
] as const;

type V1<Files extends readonly string[]> = CgroupFiles<Files[number]>;
export type CpuUse = Omit<CpuStats, 'atMs' | 'usageNanoCores'>;
export type MemoryUse = Omit<MemoryStats, 'atMs'>;

/** /proc's clock ticks a second, as user space sees them on every Linux (USER_HZ). */
export const TICKS_PER_SECOND = 100;
const NS_PER_TICK = 1_000_000_000 / TICKS_PER_SECOND;
/** Larger memory limits mean none: the kernel rounds down its "unlimited" (cAdvisor's maxMemorySize). */
const UNLIMITED_BYTES = 2 ** 62;

/** "name value" lines; others say nothing. */
export function parseCounters(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split('\n').flatMap((line): [string, number][] => {
      const [name, value] = line.split(' ');
      const count = parseNumber(value);
      return name === undefined || count === undefined ? [] : [[name, count]];
    }),
  );
}

/** A file of one number; undefined where it is missing, or says "max". */
export function parseNumber(text: string | undefined): number | undefined {
  const value = Number(text?.trim() || 'none');
  return Number.isFinite(value) ? value : undefined;
}

export const limited = (bytes: number | undefined): number | undefined =>
  bytes !== undefined && bytes < UNLIMITED_BYTES ? bytes : undefined;
export const optional = <K extends string>(key: K, value: number | undefined): { readonly [P in K]?: number } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: number };

export function cpuOfV1(files: V1<typeof cpuFilesV1>): CpuUse | undefined {
  const usageCoreNanoSeconds = parseNumber(files['cpuacct.usage']);
  if (usageCoreNanoSeconds === undefined) return undefined;
  const split = parseCounters(files['cpuacct.stat'] ?? '');
  const ns = (ticks: number | undefined): number | undefined => (ticks === undefined ? undefined : ticks * NS_PER_TICK);
  const stat = parseCounters(files['cpu.stat'] ?? '');
  const periods = stat.get('nr_periods');
  return {
    usageCoreNanoSeconds,
    ...optional('userNanoSeconds', ns(split.get('user'))),
    ...optional('systemNanoSeconds', ns(split.get('system'))),
    ...throttling(periods, stat.get('nr_throttled'), stat.get('throttled_time')),
  };
}

export function cpuOfV2(files: V1<typeof cpuFilesV2>): CpuUse | undefined {
  const stat = parseCounters(files['cpu.stat'] ?? '');
  const ns = (name: string): number | undefined => {
    const us = stat.get(name);
    return us === undefined ? undefined : us * 1000;
  };
  const usageCoreNanoSeconds = ns('usage_usec');
  if (usageCoreNanoSeconds === undefined) return undefined;
  return {
    usageCoreNanoSeconds,
    ...optional('userNanoSeconds', ns('user_usec')),
    ...optional('systemNanoSeconds', ns('system_usec')),
    ...throttling(stat.get('nr_periods'), stat.get('nr_throttled'), ns('throttled_usec')),
  };
}

/** A cgroup that has no CPU limit counts no periods. */
function throttling(periods = 0, throttledPeriods = 0, throttledNanoSeconds = 0): Pick<CpuUse, 'throttling'> {
  return periods === 0 ? {} : { throttling: { periods, throttledPeriods, throttledNanoSeconds } };
}

/** As cAdvisor reckons: usage less the inactive file pages, counted with everything below (total_…). */
export function memoryOfV1(files: V1<typeof memoryFilesV1>): MemoryUse | undefined {
  const usageBytes = parseNumber(files['memory.usage_in_bytes']);
  const text = files['memory.stat'];
  if (usageBytes === undefined || text === undefined) return undefined;
  const stat = parseCounters(text);
  const of = (name: string): number => stat.get(`total_${name}`) ?? stat.get(name) ?? 0;
  return {
    usageBytes,
    ...workingSet(usageBytes, of('inactive_file'), limited(parseNumber(files['memory.limit_in_bytes']))),
    rssBytes: of('rss'),
    pageFaults: of('pgfault'),
    majorPageFaults: of('pgmajfault'),
    cacheBytes: of('cache'),
    mappedFileBytes: of('mapped_file'),
    swapBytes: of('swap'),
    ...optional('maxUsageBytes', parseNumber(files['memory.max_usage_in_bytes'])),
    ...optional('limitHits', parseNumber(files['memory.failcnt'])),
    ...optional('oomKills', parseCounters(files['memory.oom_control'] ?? '').get('oom_kill')),
  };
}

export function memoryOfV2(files: V1<typeof memoryFilesV2>): MemoryUse | undefined {
  const usageBytes = parseNumber(files['memory.current']);
  const text = files['memory.stat'];
  if (usageBytes === undefined || text === undefined) return undefined;
  const stat = parseCounters(text);
  const of = (name: string): number => stat.get(name) ?? 0;
  const events = parseCounters(files['memory.events'] ?? '');
  return {
    usageBytes,
    ...workingSet(usageBytes, of('inactive_file'), limited(parseNumber(files['memory.max']))),
    rssBytes: of('anon'),
    pageFaults: of('pgfault'),
    majorPageFaults: of('pgmajfault'),
    cacheBytes: of('file'),
    mappedFileBytes: of('file_mapped'),
    swapBytes: parseNumber(files['memory.swap.current']) ?? 0,
    ...optional('maxUsageBytes', parseNumber(files['memory.peak'])),
    ...optional('swapLimitBytes', limited(parseNumber(files['memory.swap.max']))),
    ...optional('limitHits', events.get('max')),
    ...optional('oomKills', events.get('oom_kill')),
  };
}

/** What is left below a limit may be less than nothing for a moment: then it is nothing. */
export function workingSet(
  usageBytes: number,
  inactiveFileBytes: number,
  limitBytes: number | undefined,
): Pick<MemoryUse, 'workingSetBytes' | 'availableBytes'> {
  const workingSetBytes = Math.max(0, usageBytes - inactiveFileBytes);
  return { workingSetBytes, ...optional('availableBytes', limitBytes && Math.max(0, limitBytes - workingSetBytes)) };
}

/** Where the pod's own cgroup is, when the container's lies in one: "…/podUID/ID" or "…-podUID.slice/docker-ID.scope", with _ for -. */
export function podCgroupOf(containerPath: string, uid: string): string | undefined {
  const parent = containerPath.slice(0, Math.max(0, containerPath.lastIndexOf('/')));
  const name = parent.slice(parent.lastIndexOf('/') + 1);
  return name === `pod${uid}` || name.endsWith(`-pod${uid.replaceAll('-', '_')}.slice`) ? parent : undefined;
}
