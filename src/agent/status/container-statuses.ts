import { isSidecar } from '../../model/pod-predicates.ts';
import type { Container, ContainerStateStatus, ContainerStatus, Pod } from '../../model/pod.ts';
import { shouldRestartContainer } from '../../model/should-restart-container.ts';
import { formatTime } from '../../model/time.ts';
import type { StartFailure } from '../../model/start-failure.ts';
import type { ContainerId, ObservedContainer } from '../../ports/container-runtime.ts';
import type { ResourceHealthByContainer } from '../../ports/pod-participant.ts';
import { containerResources } from './actual-resources.ts';
import { restartingAllContainers } from './pod-phase.ts';
import { volumeMountStatuses } from './volume-mount-statuses.ts';

export interface ContainerStatusInput {
  readonly pod: Pod;
  /** Newest first. */
  readonly containers: readonly ObservedContainer[];
  /** What was reported before: carries restart counts and endings over the removal of dead containers. */
  readonly previous: readonly ContainerStatus[];
  /** The last failed start by container name. Those of containers that run, or will not run again, are ignored. */
  readonly startErrors: ReadonlyMap<string, StartFailure>;
  /** "docker": container ids read docker://… */
  readonly runtimeName: string;
  /** The end of a container has asked for all of them to start again. */
  readonly podRestarting: boolean;
  /** Whether the container's `started` is kept as it was reported: the probes did not see it start. */
  readonly keepsStarted: (id: ContainerId) => boolean;
  /** Whether resources are reported. */
  readonly tellsResources: boolean;
  readonly recursiveReadOnly: boolean;
  readonly resourceHealth: readonly ResourceHealthByContainer[];
}

export type ContainerKind = 'app' | 'init' | 'ephemeral';

/** One status a container of `kind`: init containers in spec order, others by name (convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go). */
export function containerStatuses(input: ContainerStatusInput, kind: ContainerKind): readonly ContainerStatus[] {
  const statuses = containersOf(input.pod, kind).map((container) =>
    withHealth(input, withStartError(input, container, kind, engineStatus(input, container) ?? absentStatus(input, container))),
  );
  return kind === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function containersOf({ spec }: Pod, kind: ContainerKind): readonly Container[] {
  if (kind === 'app') return spec.containers;
  return (kind === 'init' ? spec.initContainers : spec.ephemeralContainers) ?? [];
}

/** Devices are allocated before the container is there. */
function withHealth({ resourceHealth }: ContainerStatusInput, status: ContainerStatus): ContainerStatus {
  const health = resourceHealth.flatMap((each) => each[status.name] ?? []);
  return health.length > 0 ? { ...status, allocatedResourcesStatus: health } : status;
}

/** Where a name is there twice the last counts. */
function reportedOf(previous: readonly ContainerStatus[], name: string): ContainerStatus | undefined {
  return previous.findLast((status) => status.name === name);
}

/** What the engine's newest two instances say; undefined when it has none. */
function engineStatus(input: ContainerStatusInput, container: Container): ContainerStatus | undefined {
  const { containers, previous, runtimeName } = input;
  const [newest, before] = containers.filter(({ name }) => name === container.name);
  if (newest === undefined) return undefined;
  const old = reportedOf(previous, container.name);
  const containerID = `${runtimeName}://${newest.id}`;
  const { state, restarts } = stateOf(newest, old, input);
  const ended = old?.containerID !== containerID && old?.state?.terminated ? old.state.terminated : old?.lastState?.terminated;
  const lastState = ended ? { terminated: ended } : {};
  const running = newest.state.phase === 'running';
  const user = newest.user ? { linux: newest.user } : old?.containerID === containerID ? old.user : undefined;
  return {
    name: container.name,
    state,
    lastState: before ? stateOf(before, old, input).state : lastState,
    ready: false,
    restartCount: restarts,
    image: newest.image,
    imageID: newest.imageId,
    containerID,
    ...(old?.volumeMounts && { volumeMounts: old.volumeMounts }),
    ...(input.keepsStarted(newest.id) && running && old?.started !== undefined && { started: old.started }),
    ...(input.tellsResources && {
      resources: containerResources(container, newest, old?.state?.running && old.containerID === containerID ? old.resources : undefined),
      ...(container.resources?.requests && { allocatedResources: container.resources.requests }),
    }),
    ...(user && { user }),
    // Only who knows of the field has let it through: API servers keep it behind the gate ContainerStopSignals.
    ...(newest.stopSignal !== undefined && container.lifecycle?.stopSignal && { stopSignal: newest.stopSignal }),
  };
}

function stateOf(
  { id, attempt, state }: ObservedContainer,
  old: ContainerStatus | undefined,
  { runtimeName, podRestarting }: ContainerStatusInput,
): { readonly state: ContainerStateStatus; readonly restarts: number } {
  // What RestartAllContainers removed from the engine counts on.
  const restarts = Math.max(attempt, old?.restartCount ?? 0);
  switch (state.phase) {
    case 'running': {
      const again = old?.state?.terminated !== undefined && old.restartCount >= attempt;
      return { state: { running: { startedAt: formatTime(state.startedAtMs) } }, restarts: again ? old.restartCount + 1 : restarts };
    }
    case 'created':
      return { state: { waiting: {} }, restarts };
    case 'exited': {
      const { startedAtMs, finishedAtMs, exitCode, reason, message } = state;
      const terminated = {
        exitCode,
        ...(reason === '' ? {} : { reason }),
        ...(message === '' ? {} : { message }),
        ...(startedAtMs === undefined ? {} : { startedAt: formatTime(startedAtMs) }),
        finishedAt: formatTime(finishedAtMs),
        containerID: `${runtimeName}://${id}`,
      };
      return { state: { terminated }, restarts };
    }
    case 'unknown':
      // It ran when last seen: better an unseen ending than a container that seems never to have run.
      if (old?.state?.running) {
        const message = 'The container could not be located when the pod was terminated';
        const terminated = { ...lost, ...(podRestarting && { reason: restartingAllContainers }), message };
        return { state: { terminated }, restarts: old.restartCount + 1 };
      }
      return { state: { waiting: {} }, restarts };
    default:
      return state satisfies never;
  }
}

const lost = { reason: 'ContainerStatusUnknown', exitCode: 137 };
const removed = { reason: restartingAllContainers, message: 'The container is removed because RestartAllContainers in place' };

/** The engine has nothing: either not yet, or no longer. */
function absentStatus({ pod, previous, podRestarting, recursiveReadOnly }: ContainerStatusInput, container: Container): ContainerStatus {
  const { name, image } = container;
  const old = reportedOf(previous, name);
  const creating = pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
  const volumeMounts = volumeMountStatuses(container, recursiveReadOnly);
  const status: ContainerStatus = old?.state?.terminated
    ? old
    : {
        name,
        image: image ?? '',
        imageID: '',
        ready: false,
        restartCount: old?.restartCount ?? 0,
        state: { waiting: { reason: creating } },
        lastState: old?.lastState ?? {},
        ...(volumeMounts.length > 0 && { volumeMounts }),
      };
  if (old === undefined) return status;
  if (podRestarting && !old.state?.waiting) {
    return {
      ...status,
      state: { waiting: removed },
      lastState: { terminated: { ...removed, exitCode: 137 } },
      restartCount: old.restartCount + 1,
    };
  }
  if (!old.state?.running || status.lastState?.terminated) return status;
  // What ran and is gone has ended, seen or not.
  const message = 'The container could not be located when the pod was deleted.  The container used to be Running';
  const restartCount = old.restartCount + (pod.metadata.deletionTimestamp === undefined ? 1 : 0);
  return { ...status, lastState: { ...status.lastState, terminated: { ...lost, message } }, restartCount };
}

/** A container that is to start and could not waits, with the reason; its last end moves to `lastState`. */
function withStartError(
  { pod, containers, startErrors }: ContainerStatusInput,
  container: Container,
  kind: ContainerKind,
  status: ContainerStatus,
): ContainerStatus {
  const newest = containers.find(({ name }) => name === container.name)?.state;
  const error = startErrors.get(container.name);
  const sidecar = kind === 'init' && isSidecar(container);
  if (kind === 'init' && !sidecar && newest === undefined && status.state?.waiting && appContainersWereMade(pod, containers)) {
    // It is no longer in the engine, and what came after it is.
    const message = 'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally';
    return { ...status, state: { terminated: { reason: 'Completed', message, exitCode: 0 } } };
  }
  const succeeded = kind === 'init' && newest?.phase === 'exited' && newest.exitCode === 0;
  // An ephemeral container runs once.
  const isOver = succeeded || (kind === 'ephemeral' && newest?.phase === 'exited');
  if (error === undefined || isOver || !shouldRestartContainer(pod, container, newest)) return status;
  return {
    ...status,
    ...(status.state?.terminated ? { lastState: status.state } : {}),
    state: { waiting: { reason: error.reason, ...(error.message === '' ? {} : { message: error.message }) } },
  };
}

/** HasAnyRegularContainerCreated in pkg/kubelet/kuberuntime. */
function appContainersWereMade({ spec }: Pod, containers: readonly ObservedContainer[]): boolean {
  return spec.containers.some(({ name }) => {
    const phase = containers.find((one) => one.name === name)?.state.phase;
    return phase !== undefined && phase !== 'unknown';
  });
}
