import { isCriticalPod } from '../model/critical-pod.ts';
import { type Pressure, pressureTypes } from '../model/node-pressure.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import type { Pod } from '../model/pod.ts';
import { podQosClass } from '../model/qos.ts';
import { toleratesTaint } from '../model/tolerations.ts';

const memoryPressureTaint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' };

/**
 * Why a node that is short of something does not take the pod: where that is memory alone, pods that ask for nothing and do not tolerate it;
 * else all that are not critical (Admit in pkg/kubelet/eviction).
 */
export function refusalUnderPressure(pod: Pod, pressures: ReadonlySet<Pressure>): PodRefusal | undefined {
  if (pressures.size === 0 || isCriticalPod(pod)) return undefined;
  const onlyMemory = pressures.size === 1 && pressures.has('memory');
  if (onlyMemory && podQosClass(pod) !== 'BestEffort') return undefined;
  const { tolerations = [] } = pod.spec;
  if (onlyMemory && tolerations.some((toleration) => toleratesTaint(toleration, memoryPressureTaint))) return undefined;
  const types = (['memory', 'disk', 'pid'] as const)
    .filter((pressure) => pressures.has(pressure))
    .map((pressure) => pressureTypes[pressure]);
  return { reason: 'Evicted', message: `The node had condition: [${types.join(' ')}]. ` };
}
