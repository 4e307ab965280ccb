import type { Container, Pod, PodStatus, PodUid } from '../model/pod.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import { Quantity } from '../model/quantity.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { StatusChange } from '../ports/pod-statuses.ts';
import type { MetricSet } from './metric-set.ts';

/** podResizeDurationBuckets in pkg/kubelet/metrics/metrics.go. Milliseconds. */
const buckets = [10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000];

type Heard = 'reconciled' | 'deferredResizeAccepted' | 'resizeInfeasible' | 'podEnded';

export interface ResizeMetrics extends Pick<Happenings, Heard> {
  readonly declared: (update: PodUpdate) => void;
  readonly changed: (change: StatusChange) => void;
}

/** Resizes in place: what is asked for, what waits and what is brought about (pkg/kubelet/metrics/metrics.go). */
export function resizeMetrics(set: MetricSet): ResizeMetrics {
  const requested = set.counter(
    'kubelet_container_requested_resizes_total',
    "Number of requested resizes, counted at the container level. Different resources on the same container are counted separately. The 'requirement' label refers to 'memory' or 'limits'; the 'operation' label can be one of 'add', 'remove', 'increase' or 'decrease'.",
    ['resource', 'requirement', 'operation'],
  );
  const took = set.histogram(
    'kubelet_pod_resize_duration_milliseconds',
    'Duration in milliseconds to actuate a pod resize',
    ['success'],
    buckets,
  );
  const accepted = set.counter(
    'kubelet_pod_deferred_accepted_resizes_total',
    'Cumulative number of resizes that were accepted after being deferred.',
    ['retry_trigger'],
  );
  const infeasible = set.counter('kubelet_pod_infeasible_resizes_total', 'Number of infeasible resizes for pods.', ['reason_detail']);
  const declared = new Map<PodUid, Pod>();
  const pending = new Map<PodUid, string>();
  const inProgress = new Set<PodUid>();
  set.gauge('kubelet_pod_in_progress_resizes', 'Number of in-progress resizes for pods.', [], (gauge) => gauge.set(inProgress.size));
  set.gauge('kubelet_pod_pending_resizes', 'Number of pending resizes for pods.', ['reason'], (gauge) => {
    gauge.reset();
    for (const reason of pending.values()) gauge.inc({ reason });
  });
  return {
    declared: ({ op, pods }) => {
      for (const pod of pods) {
        const before = declared.get(pod.metadata.uid);
        if (op === 'REMOVE') declared.delete(pod.metadata.uid);
        else declared.set(pod.metadata.uid, pod);
        if (op === 'UPDATE' && before) for (const change of requestedChanges(before, pod)) requested.inc(change);
      }
    },
    changed: ({ pod: { metadata }, status }) => {
      const reason = reasonOf(status, 'PodResizePending')?.toLowerCase();
      if (reason === undefined) pending.delete(metadata.uid);
      else pending.set(metadata.uid, reason);
      if (reasonOf(status, 'PodResizeInProgress') === undefined) inProgress.delete(metadata.uid);
      else inProgress.add(metadata.uid);
    },
    podEnded: ({ uid }) => {
      pending.delete(uid);
      inProgress.delete(uid);
    },
    reconciled: ({ outcomes }) => {
      const updates = outcomes.filter(({ action }) => action.do === 'updateContainer');
      if (updates.length === 0) return;
      const tookMs = updates.reduce((sum, update) => sum + update.tookMs, 0);
      took.observe({ success: String(updates.every(({ error }) => error === undefined)) }, tookMs);
    },
    deferredResizeAccepted: ({ trigger }) => accepted.inc({ retry_trigger: trigger }),
    resizeInfeasible: ({ detail }) => infeasible.inc({ reason_detail: detail }),
  };
}

/** Empty where the condition holds and gives none; undefined where it does not hold. */
function reasonOf({ conditions = [] }: PodStatus, wanted: string): string | undefined {
  const found = conditions.find(({ type, status }) => type === wanted && status === 'True');
  return found && (found.reason ?? '');
}

type Operation = 'add' | 'remove' | 'increase' | 'decrease';
interface RequestedChange {
  readonly resource: 'memory' | 'cpu';
  readonly requirement: 'requests' | 'limits';
  readonly operation: Operation;
}

/** recordContainerResizeOperations in pkg/kubelet/kubelet.go */
function requestedChanges(before: Pod, now: Pod): readonly (RequestedChange & Record<string, string>)[] {
  const old = new Map(resizable(before).map((container) => [container.name, container]));
  return resizable(now).flatMap(({ name, resources }) => {
    const container = old.get(name);
    if (container === undefined) return [];
    return (['memory', 'cpu'] as const).flatMap((resource) =>
      (['requests', 'limits'] as const).flatMap((requirement) => {
        const amount = (of: Container['resources']): Quantity => Quantity.fromJson(of?.[requirement]?.[resource]);
        const operation = operationOf(amount(container.resources), amount(resources));
        return operation ? [{ resource, requirement, operation }] : [];
      }),
    );
  });
}

function operationOf(old: Quantity, now: Quantity): Operation | undefined {
  const order = now.cmp(old);
  if (order === 0) return undefined;
  if (now.isZero()) return 'remove';
  if (old.isZero()) return 'add';
  return order < 0 ? 'decrease' : 'increase';
}

const resizable = ({ spec }: Pod): readonly Container[] => [...(spec.initContainers ?? []), ...spec.containers];
