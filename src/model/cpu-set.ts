/** Processors by their numbers, as the kernel counts them. */
export type CpuSet = ReadonlySet<number>;

/** Far beyond what any kernel counts to: a range may not fill the memory. */
const MAX_CPU = 65_535;

/** "0-2,7", as cgroups and the kernel's lists write it; empty: none. Throws with what is wrong. */
export function parseCpuSet(text: string): CpuSet {
  const cpus = new Set<number>();
  if (text === '') return cpus;
  const fault = cpuSetFault(text);
  if (fault !== undefined) throw new Error(fault);
  const ranges = text.split(',').map((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    if (to > MAX_CPU) throw new Error(`CPU ${to} is beyond ${MAX_CPU}, the last that is looked at`);
    return { from, to };
  });
  // Each CPU is looked at once, however often it is named.
  let next = 0;
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    for (next = Math.max(next, from); next <= to; next++) cpus.add(next);
  }
  return cpus;
}

/** In order, ranges joined: "0-2,7"; two neighbours are a range, too (k8s.io/utils/cpuset String). */
export function formatCpuSet(cpus: CpuSet): string {
  const ranges: { from: number; to: number }[] = [];
  for (const cpu of inOrder(cpus)) {
    const last = ranges.at(-1);
    if (last?.to === cpu - 1) last.to = cpu;
    else ranges.push({ from: cpu, to: cpu });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/** The numbers, ascending. */
export const inOrder = (numbers: Iterable<number>): readonly number[] => [...numbers].toSorted((a, b) => a - b);

export const sameCpus = (one: CpuSet, other: CpuSet): boolean => one.size === other.size && one.isSubsetOf(other);

/** What is wrong with a list of processors, in the words of k8s.io/utils/cpuset Parse; undefined: nothing. How many there are is not asked. */
export function cpuSetFault(text: string): string | undefined {
  for (const range of text.split(',')) {
    const [first, ...rest] = range.split('-');
    const bounds = rest.length === 0 ? [first ?? ''] : [first ?? '', rest.join('-')];
    const wrong = bounds.map(wholeNumberFault).find((fault) => fault !== undefined);
    if (wrong !== undefined) return wrong;
    const [from, to = from] = bounds.map(Number);
    if (from !== undefined && to !== undefined && from > to) return `invalid range ${JSON.stringify(range)} (${from} > ${to})`;
  }
  return undefined;
}

/** strconv.Atoi */
function wholeNumberFault(text: string): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  const value = BigInt(text.replace(/^\+/, ''));
  const fits = value >= -(2n ** 63n) && value < 2n ** 63n;
  return fits ? undefined : `strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`;
}
