import type { Pod } from '../../../src/model/pod.ts';
import { podRequestsAndLimits, podResourceRequest, type Quantities } from '../../../src/model/pod-resources.ts';

interface Input {
  readonly pod: Pod;
  readonly values: readonly string[];
}

const printed = (quantities: Quantities): object =>
  Object.fromEntries([...quantities].map(([name, quantity]) => [name, quantity.canonical()]));

export function run({ pod, values }: Input): object {
  const { requests, limits } = podRequestsAndLimits(pod);
  const requestValues = Object.fromEntries(values.map((name) => [name, Number(podResourceRequest(pod, name))]));
  return { requests: printed(requests), limits: printed(limits), requestValues };
}
