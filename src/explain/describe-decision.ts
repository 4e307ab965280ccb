import type { ExplainedDecision } from '../model/explanation.ts';
import type { ActionOutcome, PodAction } from '../ports/pod-plan.ts';
import type { SeenRecord } from './pod-facts.ts';

/** A pod of thousands of containers has a reason for each. */
const MOST = 20;

/** What was decided about the pod, and what came of it. */
export function describeDecision({ record }: SeenRecord, dateOffsetMs: number): ExplainedDecision {
  const { plan, outcomes, failed, wakes, atMs } = record;
  return {
    atMs: Math.round(atMs + dateOffsetMs),
    woken: wakes,
    because: first(plan.because),
    did: first(outcomes.map(describeOutcome)),
    ...(failed === undefined ? {} : { failed }),
  };
}

function describeOutcome({ action, tookMs, note, error }: ActionOutcome): string {
  return `${describeStep(action)}: ${error ?? note ?? 'done'} (${Math.round(tookMs)} ms)`;
}

/** "start container app" */
export function describeStep(action: PodAction): string {
  if (action.do === 'startContainer') return `start container ${action.name}${action.attempt > 0 ? ` (attempt ${action.attempt})` : ''}`;
  if (action.do === 'stopContainer') return `stop container ${action.name} within ${Math.round(action.graceMs / 1000)} s`;
  if (action.do === 'updateContainer') return `give container ${action.name} other ${action.resource}`;
  if (action.do === 'pinContainer') return `move container ${action.name} to CPUs ${action.cpuset}`;
  return action.do === 'removeContainer' ? `remove container ${action.name}` : words[action.do];
}

const words = {
  admit: 'decide whether it may run here',
  resize: 'decide whether it may have other resources',
  prepare: 'prepare what it needs',
  runSandbox: 'start its sandbox',
  stopSandbox: 'stop its sandbox',
  removeSandbox: 'remove its sandbox',
  tearDown: 'release what only a running pod needs',
  release: 'release what it had here',
} as const;

function first(texts: readonly string[]): readonly string[] {
  return texts.length > MOST ? [...texts.slice(0, MOST), `and ${texts.length - MOST} more`] : texts;
}
