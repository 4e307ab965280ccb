import { isSidecar } from '../model/pod-predicates.ts';
import type { Container, ContainerStateStatus, ContainerStatus, Pod } from '../model/pod.ts';
import { shouldRestartContainer, shouldRestartSidecar } from '../model/should-restart-container.ts';
import { formatTime } from '../model/time.ts';
import type { ObservedContainer } from '../ports/container-runtime.ts';

/** Why a container did not start: a reason in the words of `state.waiting.reason`. */
export interface StartError {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerStatusInput {
  readonly pod: Pod;
  /** Newest first. */
  readonly containers: readonly ObservedContainer[];
  /** What was told before: carries restart counts and endings over the removal of dead containers. */
  readonly previous: readonly ContainerStatus[];
  /** The last failed start by container name. Those of containers that run, or will not run again, are ignored. */
  readonly startErrors: ReadonlyMap<string, StartError>;
  /** "docker": container ids read docker://… */
  readonly runtimeName: string;
}

export type ContainerKind = 'app' | 'init' | 'ephemeral';

/** One status a container of `kind`: init containers in spec order, others by name (convertToAPIContainerStatuses in pkg/kubelet/kubelet_pods.go). */
export function containerStatuses(input: ContainerStatusInput, kind: ContainerKind): readonly ContainerStatus[] {
  const statuses = containersOf(input.pod, kind).map((container) =>
    withStartError(input, container, kind, engineStatus(input, container) ?? absentStatus(input, container)),
  );
  return kind === 'init' ? statuses : statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function containersOf({ spec }: Pod, kind: ContainerKind): readonly Container[] {
  if (kind === 'app') return spec.containers;
  return (kind === 'init' ? spec.initContainers : spec.ephemeralContainers) ?? [];
}

/** Where a name was told twice the last counts. */
function toldOf(previous: readonly ContainerStatus[], name: string): ContainerStatus | undefined {
  return previous.findLast((status) => status.name === name);
}

/** What the engine's newest two instances say; undefined when it has none. */
function engineStatus({ containers, previous, runtimeName }: ContainerStatusInput, { name }: Container): ContainerStatus | undefined {
  const [newest, before] = containers.filter((container) => container.name === name);
  if (newest === undefined) return undefined;
  const old = toldOf(previous, name);
  const { state, restarts } = stateOf(newest, old, runtimeName);
  return {
    name,
    state,
    lastState: before ? stateOf(before, old, runtimeName).state : {},
    ready: false,
    restartCount: restarts,
    image: newest.image,
    imageID: newest.imageId,
    containerID: `${runtimeName}://${newest.id}`,
  };
}

function stateOf(
  { id, attempt, state }: ObservedContainer,
  old: ContainerStatus | undefined,
  runtimeName: string,
): { readonly state: ContainerStateStatus; readonly restarts: number } {
  const containerID = `${runtimeName}://${id}`;
  switch (state.phase) {
    case 'running':
      return { state: { running: { startedAt: formatTime(state.startedAtMs) } }, restarts: attempt };
    case 'created':
      return { state: { terminated: { exitCode: 0, containerID } }, restarts: attempt };
    case 'exited': {
      const { startedAtMs, finishedAtMs, exitCode, reason, message } = state;
      const terminated = {
        exitCode,
        ...(reason === '' ? {} : { reason }),
        ...(message === '' ? {} : { message }),
        ...(startedAtMs === undefined ? {} : { startedAt: formatTime(startedAtMs) }),
        finishedAt: formatTime(finishedAtMs),
        containerID,
      };
      return { state: { terminated }, restarts: attempt };
    }
    case 'unknown':
      // It ran when last seen: better an ending that nobody saw than a container that seems never to have run.
      if (old?.state?.running) {
        const terminated = { ...lost, message: 'The container could not be located when the pod was terminated' };
        return { state: { terminated }, restarts: old.restartCount + 1 };
      }
      return { state: { waiting: {} }, restarts: attempt };
    default:
      return state satisfies never;
  }
}

const lost = { reason: 'ContainerStatusUnknown', exitCode: 137 };

/** The engine has nothing: either not yet, or no longer. */
function absentStatus({ pod, previous }: ContainerStatusInput, { name, image }: Container): ContainerStatus {
  const old = toldOf(previous, name);
  if (old?.state?.terminated) return old;
  const creating = pod.spec.initContainers?.length ? 'PodInitializing' : 'ContainerCreating';
  // Of a pod that is being deleted, what ran and is gone has ended, seen or not.
  const vanished = old?.state?.running && pod.metadata.deletionTimestamp !== undefined && !old.lastState?.terminated;
  const terminated = { ...lost, message: 'The container could not be located when the pod was deleted.  The container used to be Running' };
  return {
    name,
    image: image ?? '',
    imageID: '',
    ready: false,
    restartCount: old?.restartCount ?? 0,
    state: { waiting: { reason: creating } },
    lastState: vanished ? { ...old.lastState, terminated } : (old?.lastState ?? {}),
  };
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
  const should = isSidecar(container) ? shouldRestartSidecar : shouldRestartContainer;
  const succeeded = kind === 'init' && !isSidecar(container) && newest?.phase === 'exited' && newest.exitCode === 0;
  // An ephemeral container runs once.
  const isOver = succeeded || (kind === 'ephemeral' && newest?.phase === 'exited');
  if (error === undefined || isOver || !should(pod, newest)) return status;
  return {
    ...status,
    ...(status.state?.terminated ? { lastState: status.state } : {}),
    state: { waiting: { reason: error.reason, ...(error.message === '' ? {} : { message: error.message }) } },
  };
}
