import { isSidecar } from '../../model/pod-predicates.ts';
import type { Container, Pod } from '../../model/pod.ts';
import { restartActionFor } from '../../model/should-restart-container.ts';
import type { ObservedContainer } from '../../ports/container-runtime.ts';

/** Why a container is to be started, by its newest instance; undefined where that was said already: it is stopped first. */
export function describeStart(pod: Pod, container: Container, newest: ObservedContainer | undefined): string | undefined {
  const what = `${kindOf(pod, container)} ${container.name}`;
  if (newest === undefined) return `${what} has not run yet`;
  const { state } = newest;
  switch (state.phase) {
    case 'created':
      return `${what} was created but not started`;
    case 'exited': {
      const own = container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
      const rule = container.restartPolicy && restartActionFor(container, state.exitCode);
      const policy = isSidecar(container) ? 'sidecars always restart' : rule ? `restart rule ${rule}` : `restart policy ${own}`;
      const exited = `${what} exited with code ${state.exitCode} (${state.reason})`;
      // A plain init container that succeeded only runs again when the whole pod does.
      return `${exited}: ${isInit(pod, container) && !isSidecar(container) && state.exitCode === 0 ? 'the pod starts over' : policy}`;
    }
    case 'running':
    case 'unknown':
      return undefined;
    default:
      return state satisfies never;
  }
}

export function isInit(pod: Pod, container: Container): boolean {
  return pod.spec.initContainers?.includes(container) ?? false;
}

export function kindOf(pod: Pod, container: Container): 'container' | 'init container' | 'sidecar' | 'ephemeral container' {
  if (pod.spec.ephemeralContainers?.some(({ name }) => name === container.name)) return 'ephemeral container';
  if (isSidecar(container)) return 'sidecar';
  return isInit(pod, container) ? 'init container' : 'container';
}
