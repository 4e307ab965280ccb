import type { ContainerInspectInfo } from 'dockerode';
import { parseTime } from '../../../model/time.ts';
import type { ContainerState } from '../../../ports/container-runtime.ts';

/** Milliseconds since the epoch; undefined for Go's zero time, which docker prints for what has not happened. */
export function dockerTimeMs(text: string): number | undefined {
  return text.startsWith('0001-01-01T00:00:00') ? undefined : parseTime(text);
}

/** Where an engine gives no exit code to what could not be started: that of others. */
const CANNOT_RUN = 128;

/** How a container stands, in the words of pkg/kubelet/dockershim/docker_container.go. */
export function containerState({ State, Created }: Pick<ContainerInspectInfo, 'State' | 'Created'>): ContainerState {
  const createdAtMs = dockerTimeMs(Created) ?? 0;
  const startedAtMs = dockerTimeMs(State.StartedAt);
  const finishedAtMs = dockerTimeMs(State.FinishedAt);
  if (State.Running) return { phase: 'running', startedAtMs: startedAtMs ?? createdAtMs };
  const { ExitCode: exitCode, Error: message } = State;
  if (finishedAtMs !== undefined) {
    const reason = State.OOMKilled ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
    return { phase: 'exited', startedAtMs, finishedAtMs, exitCode, reason, message };
  }
  // It was to be started, and could not: some engines say nothing but why.
  if (exitCode !== 0 || message !== '') {
    const atMs = createdAtMs;
    return {
      phase: 'exited',
      startedAtMs: atMs,
      finishedAtMs: atMs,
      exitCode: exitCode || CANNOT_RUN,
      reason: 'ContainerCannotRun',
      message,
    };
  }
  return { phase: 'created' };
}

/** From a listing's coarse state. A paused container still runs. */
export function listedPhase(state: string): ContainerState['phase'] {
  switch (state) {
    case 'created':
      return 'created';
    case 'running':
    case 'paused':
    case 'restarting':
      return 'running';
    case 'exited':
      return 'exited';
    default:
      return 'unknown';
  }
}
