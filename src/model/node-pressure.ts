/** What a node may be short of. */
export type Pressure = 'memory' | 'disk' | 'pid';

export const pressureTypes = { memory: 'MemoryPressure', disk: 'DiskPressure', pid: 'PIDPressure' } as const satisfies Record<
  Pressure,
  string
>;

/** pkg/kubelet/nodestatus/setters.go MemoryPressureCondition, DiskPressureCondition, PIDPressureCondition. */
const words = {
  memory: {
    under: ['KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'],
    free: ['KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  },
  disk: {
    under: ['KubeletHasDiskPressure', 'kubelet has disk pressure'],
    free: ['KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  },
  pid: {
    under: ['KubeletHasInsufficientPID', 'kubelet has insufficient PID available'],
    free: ['KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  },
} as const;

/** The condition of one kind of pressure, in the kubelet's words; its times are left out. */
export function pressureCondition(
  pressure: Pressure,
  isUnder: boolean,
): { readonly [K in 'type' | 'status' | 'reason' | 'message']: string } {
  const [reason, message] = words[pressure][isUnder ? 'under' : 'free'];
  return { type: pressureTypes[pressure], status: isUnder ? 'True' : 'False', reason, message };
}
