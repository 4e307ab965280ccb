import { cpuSetFault } from '../../model/cpu-set.ts';
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
