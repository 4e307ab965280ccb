import type { Pod, PodUid } from '../model/pod.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { ReconcileRecord } from '../ports/pod-plan.ts';
import type { MetricSet } from './metric-set.ts';

interface Seen {
  readonly firstAtMs: number;
  phase: string | undefined;
}

export interface PodMetrics extends Pick<Happenings, 'reconciled'> {
  /** Counts the pods that are declared for the first time. */
  readonly declared: (update: PodUpdate) => void;
}

/** How pods start and what is done for them (pkg/kubelet/metrics/metrics.go), by their reconcile records. */
export function podMetrics(set: MetricSet): PodMetrics {
  const containersPerPod = set.histogram('kubelet_containers_per_pod_count', 'The number of containers per pod.');
  const worked = set.histogram(
    'kubelet_pod_worker_duration_seconds',
    'Duration in seconds to sync a single pod. Broken down by operation type: create, update, or sync',
    ['operation_type'],
  );
  const workerStarted = set.histogram(
    'kubelet_pod_worker_start_duration_seconds',
    'Duration in seconds from seeing a pod to starting a worker.',
  );
  const started = set.histogram(
    'kubelet_pod_start_duration_seconds',
    'Duration in seconds for a single pod to go from pending to running.',
  );
  const countStep = steps(set);
  const ownUsers = userNamespaces(set);
  const seen = new Map<PodUid, Seen>();
  return {
    declared: ({ op, pods }) => {
      ownUsers.declared(op, pods);
      if (op === 'ADD') for (const pod of pods) containersPerPod.observe(containersOf(pod));
    },
    reconciled: (record) => {
      const { uid, atMs, totalMs, phase, outcomes, life, next, failed } = record;
      const before = seen.get(uid);
      const now = before ?? { firstAtMs: atMs, phase: undefined };
      ownUsers.reconciled(record);
      worked.observe({ operation_type: operationOf(record, before === undefined) }, totalMs / 1000);
      for (const outcome of outcomes) {
        countStep(outcome);
        // Its first sandbox is when work on a pod begins.
        if (outcome.action.do === 'runSandbox' && outcome.action.attempt === 0) workerStarted.observe((atMs - now.firstAtMs) / 1000);
      }
      if (now.phase === 'Pending' && phase === 'Running') started.observe((atMs + totalMs - now.firstAtMs) / 1000);
      now.phase = phase;
      const ended = life === 'terminating' && next === 'on-change' && failed === undefined;
      if (phase === undefined || ended) seen.delete(uid);
      else seen.set(uid, now);
    },
  };
}

const containersOf = ({ spec }: Pod): number => spec.containers.length;

/** Pods with ids of their own: each sandbox that is made for one, and whether something of that look at it failed. */
function userNamespaces(set: MetricSet): {
  readonly declared: (op: PodUpdate['op'], pods: readonly Pod[]) => void;
  readonly reconciled: (record: ReconcileRecord) => void;
} {
  const words = 'This metric will only be collected on Linux.';
  const started = set.counter(
    'kubelet_started_user_namespaced_pods_total',
    `Cumulative number of pods with user namespaces started. ${words}`,
  );
  const errors = set.counter(
    'kubelet_started_user_namespaced_pods_errors_total',
    `Cumulative number of errors when starting pods with user namespaces. ${words}`,
  );
  const known = new Set<PodUid>();
  return {
    declared: (op, pods) => {
      for (const { metadata, spec } of pods) {
        if (op === 'REMOVE') known.delete(metadata.uid);
        else if (spec.hostUsers === false) known.add(metadata.uid);
      }
    },
    reconciled: ({ uid, outcomes }) => {
      if (!known.has(uid) || !outcomes.some(({ action }) => action.do === 'runSandbox')) return;
      started.inc();
      if (outcomes.some(({ error }) => error !== undefined)) errors.inc();
    },
  };
}

/** Sandboxes and containers that were started. */
function steps(set: MetricSet): (outcome: ReconcileRecord['outcomes'][number]) => void {
  const pods = set.counter('kubelet_started_pods_total', 'Cumulative number of pods started');
  const podErrors = set.counter('kubelet_started_pods_errors_total', 'Cumulative number of errors when starting pods');
  const containers = set.counter('kubelet_started_containers_total', 'Cumulative number of containers started', ['container_type']);
  const containerErrors = set.counter('kubelet_started_containers_errors_total', 'Cumulative number of errors when starting containers', [
    'container_type',
  ]);
  const sandboxes = set.histogram(
    'kubelet_run_podsandbox_duration_seconds',
    'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
    ['runtime_handler'],
  );
  const sandboxErrors = set.counter(
    'kubelet_run_podsandbox_errors_total',
    'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
    ['runtime_handler'],
  );
  return ({ action, tookMs, error }) => {
    if (action.do === 'runSandbox') {
      sandboxes.observe({ runtime_handler: '' }, tookMs / 1000);
      pods.inc();
      if (error === undefined) return;
      podErrors.inc();
      sandboxErrors.inc({ runtime_handler: '' });
    } else if (action.do === 'startContainer') {
      const container_type = action.init ? 'init_container' : 'container';
      containers.inc({ container_type });
      if (error !== undefined) containerErrors.inc({ container_type });
    }
  };
}

/** The kubelet's sync types (pkg/kubelet/types/pod_update.go), with kill for a pod that is ending. */
function operationOf({ life, wakes }: ReconcileRecord, isFirst: boolean): 'create' | 'update' | 'kill' | 'sync' {
  if (life === 'terminating') return 'kill';
  if (isFirst) return 'create';
  return wakes.includes('pod updated') ? 'update' : 'sync';
}
