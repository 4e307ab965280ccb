import type { ContainerState } from '../../../ports/container-runtime.ts';
import { type ContainerStatus, ContainerState as CriState } from '../api/runtime_pb.js';
import { criTimeMs } from './cri-time.ts';

/** How a container stands, in the words of the runtime: of one that could not be started, containerd says StartError and exit code 128. */
export function containerState(
  status: Pick<ContainerStatus, 'state' | 'createdAt' | 'startedAt' | 'finishedAt' | 'exitCode' | 'reason' | 'message'>,
): ContainerState {
  const { exitCode, message } = status;
  const createdAtMs = criTimeMs(status.createdAt) ?? 0;
  const startedAtMs = criTimeMs(status.startedAt);
  const phase = phaseOf(status.state);
  switch (phase) {
    case 'running':
      return { phase, startedAtMs: startedAtMs ?? createdAtMs };
    case 'exited': {
      const reason = status.reason || (exitCode === 0 ? 'Completed' : 'Error');
      return { phase, startedAtMs, finishedAtMs: criTimeMs(status.finishedAt) ?? createdAtMs, exitCode, reason, message };
    }
    case 'created':
    case 'unknown':
      return { phase };
    default:
      return phase satisfies never;
  }
}

export function phaseOf(state: CriState): ContainerState['phase'] {
  switch (state) {
    case CriState.CONTAINER_CREATED:
      return 'created';
    case CriState.CONTAINER_RUNNING:
      return 'running';
    case CriState.CONTAINER_EXITED:
      return 'exited';
    case CriState.CONTAINER_UNKNOWN:
    default:
      return 'unknown';
  }
}
