/** cpuManagerPolicyOptions of the static policy (pkg/kubelet/cm/cpumanager/policy_options.go). */
export interface CpuPolicyOptions {
  /** A request that does not fill whole cores is refused. */
  readonly fullPcpusOnly: boolean;
  /** What needs several NUMA nodes is shared out evenly. */
  readonly distributeCpusAcrossNuma: boolean;
  /** CPUs are aligned with sockets in place of NUMA nodes. */
  readonly alignBySocket: boolean;
  /** Threads of different cores before those of the same. */
  readonly distributeCpusAcrossCores: boolean;
  /** What is reserved is not in the shared pool. */
  readonly strictCpuReservation: boolean;
  readonly preferAlignCpusByUncoreCache: boolean;
}

export const noCpuPolicyOptions: CpuPolicyOptions = {
  fullPcpusOnly: false,
  distributeCpusAcrossNuma: false,
  alignBySocket: false,
  distributeCpusAcrossCores: false,
  strictCpuReservation: false,
  preferAlignCpusByUncoreCache: false,
};
