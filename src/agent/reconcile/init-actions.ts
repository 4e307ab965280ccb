import { isSidecar } from '../../model/pod-predicates.ts';
import type { Container, Pod } from '../../model/pod.ts';
import { shouldRestartContainer } from '../../model/should-restart-container.ts';
import type { ObservedContainer, ObservedPod } from '../../ports/container-runtime.ts';
import { newestOf } from './instances.ts';

/** What becomes of a running init container; `started`: the next one may start. */
export interface RunningInit {
  readonly restart: boolean;
  readonly started: boolean;
}

export interface InitActions {
  /** The app containers may start. */
  readonly done: boolean;
  /** In spec order. */
  readonly toStart: readonly Container[];
  /** Containers in an unknown state: to be stopped before they start again. */
  readonly unknown: readonly ObservedContainer[];
  /** An init container that has failed for good: the pod has. */
  readonly failed: ObservedContainer | undefined;
  /** The init container that the rest of the pod waits for. */
  readonly waitsFor: Container | undefined;
}

/**
 * What the init containers need: from the last to the first, as older ones may have been removed; the newest that there is decides how far
 * initialization has come, and sidecars before it are kept running (computeInitContainerActions in pkg/kubelet/kuberuntime). `judge` says what
 * becomes of one that runs.
 */
export function initActions(
  pod: Pod,
  observed: ObservedPod,
  judge: (container: Container, newest: ObservedContainer) => RunningInit,
): InitActions {
  const inits = pod.spec.initContainers ?? [];
  let done = inits.length === 0 || appContainersBegun(pod, observed);
  /** Those after the container under test have been begun. */
  let before = done;
  const starting = new Set<number>();
  const unknown: ObservedContainer[] = [];
  let waitsFor: Container | undefined;
  const goOn = (index: number): void => {
    if (index === inits.length - 1) done = true;
    else if (!before) starting.add(index + 1);
  };
  for (const [index, container] of [...inits.entries()].toReversed()) {
    const newest = newestOf(observed, container.name);
    const sidecar = isSidecar(container);
    if (newest === undefined) {
      if (before && sidecar) starting.add(index);
      continue;
    }
    if (before && !sidecar) continue;
    const { state } = newest;
    if (state.phase === 'running') {
      const { restart, started } = judge(container, newest);
      if (started) goOn(index);
      else if (!before) waitsFor = container;
      if (restart) starting.add(index);
    } else if (state.phase === 'exited' && !sidecar && !hasFailed(newest)) goOn(index);
    else {
      if (!sidecar && hasFailed(newest) && !restarts(pod, container, newest)) {
        return { done: false, toStart: [], unknown, failed: newest, waitsFor: container };
      }
      if (state.phase === 'unknown') unknown.push(newest);
      starting.add(index);
    }
    before = true;
  }
  if (!before) starting.add(0);
  const toStart = inits.filter((_, index) => starting.has(index));
  return { done, toStart, unknown, failed: undefined, waitsFor: done ? undefined : (waitsFor ?? toStart.at(-1)) };
}

/** An exited app container proves nothing: it may be of an older sandbox. */
function appContainersBegun(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.some(({ name }) => {
    const phase = newestOf(observed, name)?.state.phase;
    return phase === 'created' || phase === 'running';
  });
}

function hasFailed({ state }: ObservedContainer): boolean {
  return state.phase === 'unknown' || (state.phase === 'exited' && (state.exitCode !== 0 || state.reason === 'OOMKilled'));
}

/** Of one in an unknown state there is no exit code: rules do not count. */
function restarts(pod: Pod, container: Container, { state }: ObservedContainer): boolean {
  if (state.phase === 'exited') return shouldRestartContainer(pod, container, state);
  return (container.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';
}
