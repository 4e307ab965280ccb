import type { Clock } from '../base/clock.ts';
import type { Pod, PodStatus, PodUid } from '../model/pod.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import { parseTime } from '../model/time.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import type { MetricSet } from './metric-set.ts';

/** Seconds. */
const buckets = [0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const ephemeral = ['secret', 'configMap', 'downwardAPI', 'emptyDir'] as const;
/** More images than a pod has containers. */
const MAX_PULLS = 1000;

/** A pod on its way. Times are dates. */
interface Starting {
  readonly createdAtMs: number;
  readonly pulls: Span[];
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface PodStartMetrics extends Pick<Happenings, 'imagePulled' | 'podEnded'> {
  readonly declared: (update: PodUpdate) => void;
  readonly changed: (change: StatusChange) => void;
}

/**
 * How long pods take from their creation until all their containers have started, by themselves and without the pulls of images and the runs
 * of init containers (pkg/kubelet/util/pod_startup_latency_tracker.go). A static pod is created when it is declared. Counted are pods that
 * had not started when they were declared; unschedulable ones are not, and stateful ones only in the total.
 */
export function podStartMetrics(set: MetricSet, { clock }: { readonly clock: Pick<Clock, 'now'> }): PodStartMetrics {
  const total = set.histogram(
    'kubelet_pod_start_total_duration_seconds',
    'Duration in seconds to start a pod since creation, including time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started and observed via watch',
    [],
    buckets,
  );
  const sli = set.histogram(
    'kubelet_pod_start_sli_duration_seconds',
    'Duration in seconds to start a pod, excluding time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started and observed via watch',
    [],
    buckets,
  );
  const first = set.gauge(
    'kubelet_first_network_pod_start_sli_duration_seconds',
    'Duration in seconds to start the first network pod, excluding time to pull images and run init containers, measured from pod creation timestamp to when all its containers are reported as started and observed via watch',
  );
  const starting = new Map<PodUid, Starting>();
  let hasFirst = false;
  const record = (pod: Pod, status: PodStatus, { createdAtMs, pulls }: Starting): void => {
    const tookMs = Math.max(0, clock.now() - createdAtMs);
    total.observe(tookMs / 1000);
    if (isStateful(pod)) return;
    const seconds = Math.max(0, tookMs - covered(pulls) - initMs(status)) / 1000;
    sli.observe(seconds);
    if (hasFirst || pod.spec.hostNetwork === true) return;
    first.set(seconds);
    hasFirst = true;
  };
  return {
    declared: ({ op, pods }) => {
      for (const pod of pods) {
        const { uid, creationTimestamp } = pod.metadata;
        if (op === 'REMOVE' || isUnschedulable(pod)) starting.delete(uid);
        else if (op === 'ADD' && pod.status?.startTime === undefined) {
          starting.set(uid, { createdAtMs: parseTime(creationTimestamp) ?? clock.now(), pulls: [] });
        }
      }
    },
    imagePulled: ({ uid, tookMs }) => {
      const pulls = starting.get(uid)?.pulls;
      if (pulls !== undefined && pulls.length < MAX_PULLS) pulls.push({ fromMs: clock.now() - tookMs, toMs: clock.now() });
    },
    changed: ({ pod, status }) => {
      const { uid } = pod.metadata;
      const found = starting.get(uid);
      if (found === undefined) return;
      const hasEnded = status.phase === 'Failed' || status.phase === 'Succeeded';
      if (!hasEnded && !hasStarted(pod, status)) return;
      starting.delete(uid);
      if (!hasEnded && !startedBefore(found, status)) record(pod, status, found);
    },
    podEnded: ({ uid }) => void starting.delete(uid),
  };
}

function hasStarted({ spec }: Pod, { containerStatuses = [] }: PodStatus): boolean {
  return (
    containerStatuses.length >= spec.containers.length && containerStatuses.every(({ state }) => state?.running?.startedAt !== undefined)
  );
}

/** It ran before this agent knew of it: a static pod over a restart of the agent. Statuses have whole seconds. */
function startedBefore({ createdAtMs }: Starting, { containerStatuses = [] }: PodStatus): boolean {
  return containerStatuses.some(({ state }) => (parseTime(state?.running?.startedAt) ?? createdAtMs) + 1000 <= createdAtMs);
}

function isUnschedulable({ status }: Pod): boolean {
  return (status?.conditions ?? []).some((each) => each.type === 'PodScheduled' && each.status === 'False');
}

function isStateful({ spec }: Pod): boolean {
  return (spec.volumes ?? []).some((volume) => ephemeral.every((kind) => volume[kind] === undefined));
}

/** How long the init containers that have ended ran: one after the other. */
function initMs({ initContainerStatuses = [] }: PodStatus): number {
  return initContainerStatuses.reduce((sum, { state }) => {
    const [fromMs, toMs] = [parseTime(state?.terminated?.startedAt), parseTime(state?.terminated?.finishedAt)];
    return fromMs === undefined || toMs === undefined ? sum : sum + Math.max(0, toMs - fromMs);
  }, 0);
}

/** The time that at least one of the spans covers. */
function covered(spans: readonly Span[]): number {
  let [sum, endMs] = [0, Number.NEGATIVE_INFINITY];
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (toMs > endMs) sum += toMs - Math.max(fromMs, endMs);
    endMs = Math.max(endMs, toMs);
  }
  return sum;
}
