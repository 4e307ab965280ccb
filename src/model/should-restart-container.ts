import type { Pod } from './pod.ts';

/** The part of a container's state that decides. */
export type RestartableState =
  | { readonly phase: 'created' | 'running' | 'unknown' }
  | { readonly phase: 'exited'; readonly exitCode: number };

/**
 * Whether an app container or a plain init container is to be started, by the state of its newest instance (undefined: there is none).
 * ShouldContainerBeRestarted in pkg/kubelet/container/helpers.go.
 */
export function shouldRestartContainer(pod: Pod, newest: RestartableState | undefined): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (newest === undefined) return true;
  switch (newest.phase) {
    case 'running':
      return false;
    case 'created':
    case 'unknown':
      return true;
    case 'exited':
      if (pod.spec.restartPolicy === 'Never') return false;
      return pod.spec.restartPolicy !== 'OnFailure' || newest.exitCode !== 0;
    default:
      return newest satisfies never;
  }
}

/** As above for a sidecar: the pod's restart policy has no say. */
export function shouldRestartSidecar(pod: Pod, newest: RestartableState | undefined): boolean {
  return pod.metadata.deletionTimestamp === undefined && newest?.phase !== 'running';
}
