import { invalid, type Rule } from './checked-settings.ts';

const reservedCpus = 'reservedSystemCPUs (--reserved-cpus)';

/** Processors: which are reserved, and over which time the others are shared out. */
export const processors: Rule = (of) => {
  const faults: string[] = [];
  const period = `cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {${of.duration('cpuCFSQuotaPeriod')}}`;
  const periodMs = of.number('cpuCFSQuotaPeriod');
  if (!of.gate('CustomCPUCFSQuotaPeriod')) {
    if (periodMs !== 100) faults.push(invalid(`${period} requires feature gate CustomCPUCFSQuotaPeriod`));
  } else if (periodMs < 1 || periodMs > 1_000) faults.push(invalid(`${period} must be between 1ms and 1sec, inclusive`));
  const given = of.text('reservedSystemCPUs');
  if (given === '') return faults;
  if (of.text('systemReservedCgroup') !== '' || of.text('kubeReservedCgroup') !== '')
    faults.push(
      invalid(
        `can't use ${reservedCpus} with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)`,
      ),
    );
  const fault = cpuSetFault(given);
  if (fault !== undefined) faults.push(invalid(`unable to parse ${reservedCpus} ${given}, error: ${fault}`));
  return faults;
};

/** k8s.io/utils/cpuset Parse: "0-5,34"; how many processors there are is not asked. */
function cpuSetFault(text: string): string | undefined {
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
