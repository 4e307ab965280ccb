import { type CpuSet, formatCpuSet, parseCpuSet } from '../../model/cpu-set.ts';
import type { CpuPolicyOptions } from '../../model/cpu-policy-options.ts';
import type { ResourceList } from '../../model/node.ts';
import { Quantity } from '../../model/quantity.ts';
import type { MachineTopology } from '../machine-topology.ts';
import { takeCpus } from './take-cpus.ts';

/**
 * The CPUs that no container has for itself: those that are named, else as many of the lowest cores as are reserved (NewManager and
 * NewStaticPolicy in pkg/kubelet/cm/cpumanager). Throws with what to do where there are none, or not as many.
 */
export function reservedCpus(machine: MachineTopology, named: string, reserved: ResourceList, options: CpuPolicyOptions): CpuSet {
  if (named !== '') {
    const cpus = parseCpuSet(named);
    if (cpus.isSubsetOf(machine.cpus)) return cpus;
    const online = formatCpuSet(machine.cpus);
    throw new Error(
      `reservedSystemCPUs (--reserved-cpus) ${named} names CPUs that are not online here: ${online} are; name others, or turn them on`,
    );
  }
  const count = Math.ceil(Number(Quantity.fromJson(reserved['cpu']).milliValue()) / 1000);
  if (count === 0)
    throw new Error(
      'the static CPU manager policy needs a reservation of CPU, so that something is left to share: set reservedSystemCPUs (--reserved-cpus), or cpu in systemReserved or kubeReserved',
    );
  if (count > machine.cpus.size)
    throw new Error(`${count} CPUs are reserved, and this machine has ${machine.cpus.size} online: reserve fewer`);
  return takeCpus(machine, machine.cpus, count, options);
}
