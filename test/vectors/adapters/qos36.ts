import type { Pod } from '../../../src/model/pod.ts';
import { podQosClass } from '../../../src/model/qos.ts';

/** `get` is the class as the API server stored it, where it did. */
export function run({ pod }: { readonly pod: Pod }): unknown {
  const compute = podQosClass(pod);
  return { compute, get: pod.status?.qosClass || compute };
}
