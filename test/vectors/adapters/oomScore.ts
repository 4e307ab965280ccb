import { oomScoreAdj } from '../../../src/engines/docker/containers/container-resources.ts';
import type { Pod } from '../../../src/model/pod.ts';

interface Input {
  readonly pod: Pod;
  readonly container: string;
  readonly memoryCapacity: number;
}

export function run({ pod, container: name, memoryCapacity }: Input): number {
  const container = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].find((c) => c.name === name);
  if (!container) throw new Error(`no container ${name}`);
  return oomScoreAdj(pod, container, memoryCapacity);
}
