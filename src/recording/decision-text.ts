import type { ReconcileRecord } from '../ports/pod-plan.ts';
import { type HideText, toJson } from './value-json.ts';

/** One look at a pod in a text that is the same wherever the same was decided: measured durations are left out. */
export function decisionText(record: ReconcileRecord, hide: HideText): string {
  const { uid, pod, atMs, wakes, life, plan, outcomes, phase, failed, unobserved, next } = record;
  const { actions, because, held, next: planned } = plan;
  const did = outcomes.map(({ action, note, error }) => ({ action, note, error }));
  const all = { pod, uid, atMs, wakes, life, because, actions, held, did, phase, failed, unobserved, planned, next };
  return JSON.stringify(toJson(all, hide));
}
