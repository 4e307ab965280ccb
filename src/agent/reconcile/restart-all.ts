import type { Container, Pod } from '../../model/pod.ts';
import { restartActionFor } from '../../model/should-restart-container.ts';
import type { ContainerId, ObservedPod } from '../../ports/container-runtime.ts';
import { newestOf } from './instances.ts';

/** A container to remove, and to kill before where it may run. */
export interface ContainerToReset {
  readonly id: ContainerId;
  readonly name: string;
  readonly kill: boolean;
}

/**
 * What is to be removed when all containers of a pod start again: main containers before init containers, those whose end asked for it
 * last (getContainersToReset in pkg/kubelet/kuberuntime).
 */
export function containersToReset({ spec }: Pick<Pod, 'spec'>, observed: Pick<ObservedPod, 'containers'>): readonly ContainerToReset[] {
  const found = [...spec.containers, ...(spec.initContainers ?? [])].flatMap((container) =>
    observed.containers
      .filter(({ name }) => name === container.name)
      .map(({ id, name, state }) => ({
        reset: { id, name, kill: state.phase !== 'exited' },
        asked: state.phase === 'exited' && asksForAll(container, state.exitCode),
      })),
  );
  return [...found.filter(({ asked }) => !asked), ...found.filter(({ asked }) => asked)].map(({ reset }) => reset);
}

/** The containers whose ends asked for it. */
export function whoAskForAll({ spec }: Pick<Pod, 'spec'>, observed: Pick<ObservedPod, 'containers'>): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers].filter((container) => {
    const state = newestOf(observed, container.name)?.state;
    return state?.phase === 'exited' && asksForAll(container, state.exitCode);
  });
}

/** Whether this end of the container restarts all of the pod's. */
function asksForAll(container: Container, exitCode: number): boolean {
  return restartActionFor(container, exitCode) === 'RestartAllContainers';
}
