import { hasPodLevelResources } from '../../../src/model/pod-level-resources.ts';
import { containerTotal, podLimits, podRequests, type PodResourcesOptions, type Quantities } from '../../../src/model/pod-resources.ts';
import type { Pod } from '../../../src/model/pod.ts';

interface Input {
  readonly pod: Pod;
  readonly options?: PodResourcesOptions;
}

const printed = (quantities: Quantities): object =>
  Object.fromEntries([...quantities].map(([name, quantity]) => [name, quantity.canonical()]));

export function run({ pod, options = {} }: Input): object {
  const perContainer: unknown[] = [];
  return {
    requests: printed(
      podRequests(pod, { ...options, onContainer: (kind, share) => perContainer.push([kind === 'init' ? 2 : 1, printed(share)]) }),
    ),
    limits: printed(podLimits(pod, options)),
    containerRequests: printed(containerTotal(pod, 'requests', options)),
    containerLimits: printed(containerTotal(pod, 'limits', options)),
    perContainer,
    podLevelSet: hasPodLevelResources(pod),
  };
}
