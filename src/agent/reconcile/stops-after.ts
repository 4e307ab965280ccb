import { isSidecar } from '../../model/pod-predicates.ts';
import type { Pod } from '../../model/pod.ts';

/**
 * The running containers whose end a container waits for before it is stopped: a sidecar for the app containers and the sidecar after it
 * (newTerminationOrdering in pkg/kubelet/kuberuntime).
 */
export function stopsAfter({ spec }: Pick<Pod, 'spec'>, name: string, running: ReadonlySet<string>): readonly string[] {
  const sidecars = (spec.initContainers ?? []).filter(isSidecar);
  const index = sidecars.findIndex((sidecar) => sidecar.name === name);
  if (index === -1) return [];
  const next = sidecars[index + 1];
  return [...spec.containers, ...(next ? [next] : [])].map((container) => container.name).filter((one) => running.has(one));
}
