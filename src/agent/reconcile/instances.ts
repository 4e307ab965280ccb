import type { ObservedContainer, ObservedPod } from '../../ports/container-runtime.ts';

/** A container's instances, newest first. */
export function instancesOf({ containers }: Pick<ObservedPod, 'containers'>, name: string): readonly ObservedContainer[] {
  return containers.filter((container) => container.name === name);
}

/** The instance whose state counts: the newest. */
export function newestOf({ containers }: Pick<ObservedPod, 'containers'>, name: string): ObservedContainer | undefined {
  return containers.find((container) => container.name === name);
}

/** The newest instance that has ever run, as far as one can tell: what was only created says nothing of how the container fares. */
export function newestBegun({ containers }: Pick<ObservedPod, 'containers'>, name: string): ObservedContainer | undefined {
  return containers.find((container) => container.name === name && container.state.phase !== 'created');
}

/**
 * The number that the next instance gets: counted over what the engine still has (startContainer in pkg/kubelet/kuberuntime). What a crash left
 * between its creation and its start has not used up its number. Where the engine has none left it is `next`, by the count that was shown last.
 */
export function nextAttempt(observed: Pick<ObservedPod, 'containers'>, name: string, next = 0): number {
  const instances = instancesOf(observed, name);
  if (instances.length === 0) return next;
  return instances.reduce((highest, { attempt, state }) => Math.max(highest, neverRan(state) ? attempt : attempt + 1), 0);
}

export function neverRan(state: ObservedContainer['state']): boolean {
  return state.phase === 'created' && !state.restarts;
}

export function exitCodeOf({ state }: ObservedContainer): number {
  return state.phase === 'exited' ? state.exitCode : 0;
}

export function isRunning({ state }: ObservedContainer): boolean {
  return state.phase === 'running';
}

/** What a stop must reach: an instance in an unknown state may well run. */
export function mayRun({ state }: ObservedContainer): boolean {
  return state.phase === 'running' || state.phase === 'unknown';
}
