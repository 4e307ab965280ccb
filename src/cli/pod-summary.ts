import { isSidecar, isTerminalPhase } from '../model/pod-predicates.ts';
import type { ContainerStatus, RawPod } from '../model/pod.ts';
import { parseTime } from '../model/time.ts';
import { humanDuration } from './human-duration.ts';

export interface PodSummaryRow {
  /** "1/2": sidecars count. */
  readonly ready: string;
  readonly status: string;
  /** "3 (5m ago)". */
  readonly restarts: string;
  readonly age: string;
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

interface Progress {
  readonly reason: string;
  readonly initializing: boolean;
  readonly ready: number;
  readonly statuses: readonly ContainerStatus[];
}

/** What `kubectl get pods` prints of a pod (pkg/printers/internalversion printPod, release 1.33). */
export function podSummary(pod: RawPod, nowMs: number): PodSummaryRow {
  const { spec, status = {}, metadata = {} } = pod;
  const sidecars = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const initStatuses = status.initContainerStatuses ?? [];
  const init = initProgress(pod, sidecars);
  const initialized = !init.initializing || status.conditions?.some(({ type, status: is }) => type === 'Initialized' && is === 'True');
  const app = initialized ? appProgress(pod, init.reason) : undefined;
  const reason = app?.reason ?? init.reason;
  const counted = app ? [...initStatuses.filter(({ name }) => sidecars.has(name)), ...app.statuses] : init.statuses;
  const startedAt = metadata.creationTimestamp ?? status.startTime;
  const total = (spec?.containers ?? []).length + sidecars.size;
  return {
    ready: `${init.ready + (app?.ready ?? 0)}/${total}`,
    status: deletionStatus(pod) ?? reason,
    restarts: restarts(counted, nowMs),
    age: since(startedAt, nowMs) ?? '<unknown>',
  };
}

function deletionStatus({ metadata, status }: RawPod): string | undefined {
  if (metadata?.deletionTimestamp === undefined) return undefined;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return isTerminalPhase(status?.phase) ? undefined : 'Terminating';
}

/** Up to the first init container that holds up the rest. */
function initProgress({ spec, status = {} }: RawPod, sidecars: ReadonlySet<string>): Progress {
  const statuses = status.initContainerStatuses ?? [];
  const phase = status.reason !== undefined && status.reason !== '' ? status.reason : (status.phase ?? 'Unknown');
  let ready = 0;
  for (const [index, container] of statuses.entries()) {
    const { terminated, waiting } = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started === true) {
      if (container.ready) ready++;
      continue;
    }
    const why = waiting?.reason !== undefined && waiting.reason !== '' && waiting.reason !== 'PodInitializing' ? waiting.reason : undefined;
    const what = terminated ? endOf(terminated) : (why ?? `${index}/${(spec?.initContainers ?? []).length}`);
    return { reason: `Init:${what}`, initializing: true, ready, statuses: statuses.slice(0, index + 1) };
  }
  return { reason: phase, initializing: false, ready, statuses };
}

/** The first container that has something to say has the word. */
function appProgress({ status = {} }: RawPod, phase: string): Progress {
  const statuses = status.containerStatuses ?? [];
  let reason = phase;
  let ready = 0;
  for (const { state = {}, ready: isReady } of statuses.toReversed()) {
    if (state.waiting?.reason !== undefined && state.waiting.reason !== '') reason = state.waiting.reason;
    else if (state.terminated) reason = endOf(state.terminated);
    else if (isReady && state.running) ready++;
  }
  if (reason === 'Completed' && ready > 0) {
    const podReady = status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    reason = podReady ? 'Running' : 'NotReady';
  }
  return { reason, initializing: false, ready, statuses };
}

function endOf({ reason = '', signal = 0, exitCode }: Terminated): string {
  if (reason !== '') return reason;
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function restarts(statuses: readonly ContainerStatus[], nowMs: number): string {
  const count = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  const ends = statuses.flatMap(({ lastState }) => parseTime(lastState?.terminated?.finishedAt) ?? []);
  return count === 0 || ends.length === 0 ? `${count}` : `${count} (${humanDuration(nowMs - Math.max(...ends))} ago)`;
}

function since(time: string | undefined, nowMs: number): string | undefined {
  const atMs = parseTime(time);
  return atMs === undefined ? undefined : humanDuration(nowMs - atMs);
}
