import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { ObservedContainer, ObservedPod } from '../ports/container-runtime.ts';
import { exitCodeOf, newestOf } from './instances.ts';

export interface InitProgress {
  readonly done: boolean;
  /** The init container to start now; undefined: all are done, or one is under way. */
  readonly next: Container | undefined;
  /** The newest instance of `next`, if it failed. */
  readonly failed: ObservedContainer | undefined;
  /** The init container that everything waits for: it runs, or is `next`. */
  readonly waitsFor: Container | undefined;
  /** Sidecars before this index of the init containers have had their turn and are to be kept running. */
  readonly keepBelow: number;
}

/**
 * How far the init containers have come. For plain ones this is findNextInitContainerToRun in pkg/kubelet/kuberuntime; a sidecar lets the
 * next one go on as soon as it has started, and a pod with sidecars whose app containers were created is initialized, whatever its
 * sidecars do later.
 */
export function initProgress(
  pod: Pod,
  observed: ObservedPod,
  hasStarted: (sidecar: Container, id: ObservedContainer) => boolean,
): InitProgress {
  const inits = pod.spec.initContainers ?? [];
  const done: InitProgress = { done: true, next: undefined, failed: undefined, waitsFor: undefined, keepBelow: inits.length };
  if (inits.length === 0 || (inits.some(isSidecar) && appContainersWereCreated(pod, observed))) return done;

  const start = (index: number, failed?: ObservedContainer): InitProgress => {
    const next = inits[index];
    return next === undefined ? done : { done: false, next, failed, waitsFor: next, keepBelow: index };
  };
  const wait = (index: number): InitProgress => ({ ...done, done: false, waitsFor: inits[index], keepBelow: index + 1 });
  const backwards = inits.map((container, index) => ({ container, index, newest: newestOf(observed, container.name) })).reverse();

  for (const { container, index, newest } of backwards) {
    if (newest !== undefined && !isSidecar(container) && hasFailed(newest)) return start(index, newest);
  }
  for (const { container, index, newest } of backwards) {
    if (newest === undefined) continue;
    const { phase } = newest.state;
    if (isSidecar(container)) {
      if (phase !== 'running') return start(index, hasFailed(newest) ? newest : undefined);
      return hasStarted(container, newest) ? start(index + 1) : wait(index);
    }
    if (phase === 'running') return wait(index);
    if (phase === 'exited') return start(index + 1);
  }
  return start(0);
}

function hasFailed(container: ObservedContainer): boolean {
  return container.state.phase === 'unknown' || exitCodeOf(container) !== 0;
}

/** Instances of older sandboxes than the newest belong to a life that is over. */
function appContainersWereCreated(pod: Pod, { sandboxes, containers }: ObservedPod): boolean {
  const sandbox = sandboxes[0];
  if (sandbox === undefined) return false;
  const apps = new Set(pod.spec.containers.map(({ name }) => name));
  const isIn = ({ sandboxId, createdAtMs }: ObservedContainer): boolean =>
    sandboxId === undefined ? createdAtMs >= sandbox.createdAtMs : sandboxId === sandbox.id;
  return containers.some((container) => apps.has(container.name) && isIn(container));
}
