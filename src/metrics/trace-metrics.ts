import type { PodUid } from '../model/pod.ts';
import type { ReconcileRecord, Trace } from '../ports/pod-plan.ts';
import type { KubeletMetrics } from './kubelet-metrics.ts';

interface Seen {
  readonly firstAtMs: number;
  phase: string | undefined;
}

type Counted = Pick<KubeletMetrics, 'podWorked' | 'podStarted' | 'podWorkerStarted' | 'sandboxStarted' | 'containerStarted'>;

/** Counts what reconcile records tell, and passes them on. */
export function countedTrace(trace: Trace, metrics: Counted): Trace {
  const seen = new Map<PodUid, Seen>();
  return {
    note: (uid, message, fields) => trace.note(uid, message, fields),
    record: (record) => {
      trace.record(record);
      count(seen, record, metrics);
    },
  };
}

function count(seen: Map<PodUid, Seen>, record: ReconcileRecord, metrics: Counted): void {
  const { uid, atMs, totalMs, phase, outcomes, life, next, failed } = record;
  const before = seen.get(uid);
  const now = before ?? { firstAtMs: atMs, phase: undefined };
  metrics.podWorked(operationOf(record, before === undefined), totalMs / 1000);
  for (const { action, tookMs, error } of outcomes) {
    if (action.do === 'runSandbox') {
      metrics.sandboxStarted(tookMs / 1000, error !== undefined);
      // Its first sandbox is when work on a pod begins.
      if (action.attempt === 0) metrics.podWorkerStarted((atMs - now.firstAtMs) / 1000);
    }
    if (action.do === 'startContainer') metrics.containerStarted(action.init ? 'init_container' : 'container', error !== undefined);
  }
  if (now.phase === 'Pending' && phase === 'Running') metrics.podStarted((atMs + totalMs - now.firstAtMs) / 1000);
  now.phase = phase;
  const ended = life === 'terminating' && next === 'on-change' && failed === undefined;
  if (phase === undefined || ended) seen.delete(uid);
  else seen.set(uid, now);
}

/** The kubelet's sync types (pkg/kubelet/types/pod_update.go), with kill for a pod that is ending. */
function operationOf({ life, wakes }: ReconcileRecord, isFirst: boolean): 'create' | 'update' | 'kill' | 'sync' {
  if (life === 'terminating') return 'kill';
  if (isFirst) return 'create';
  return wakes.includes('pod updated') ? 'update' : 'sync';
}
