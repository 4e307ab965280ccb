import type { PodUid } from '../../src/model/pod.ts';
import type { ReconcileRecord } from '../../src/ports/pod-plan.ts';

/** A look at a running pod that changed nothing. */
export const aRecord = (over: Partial<ReconcileRecord> = {}): ReconcileRecord => ({
  uid: 'u' as PodUid,
  pod: 'default/web',
  atMs: 0,
  wakes: ['pod added'],
  life: 'syncing',
  plan: { actions: [], next: 'on-change', because: [] },
  outcomes: [],
  observeMs: 1,
  totalMs: 1,
  phase: 'Running',
  failed: undefined,
  unobserved: false,
  next: 'on-change',
  ...over,
});
