import type { Logger } from '../../base/logger.ts';
import type { PodUid } from '../../model/pod.ts';
import type { Happenings, StepNote } from '../../ports/happenings.ts';
import type { ActionOutcome, PodAction, ReconcileRecord } from '../../ports/pod-plan.ts';
import type { Next } from '../../ports/work-queue.ts';

/**
 * Reconcile records as log lines. At `--v=4` one line a reconcile: what woke it, why it did what, with what outcome, and when it looks
 * again. Below that only transitions: a phase that changed, steps that were taken, a failure.
 */
export class TraceLog implements Pick<Happenings, 'reconciled' | 'noted'> {
  readonly #log: Logger;
  readonly #phases = new Map<PodUid, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  reconciled(record: ReconcileRecord): void {
    const { uid, pod, plan, outcomes, phase, failed } = record;
    if (this.#log.enabled(4)) this.#story(record);
    else for (const outcome of outcomes) if (outcome.error === undefined) this.#step(pod, outcome, plan.because);
    if (phase !== this.#phases.get(uid) && phase !== undefined) {
      // What waits and does nothing has no other line that says why.
      const waits =
        phase === 'Pending' && outcomes.every(({ action }) => done[action.do] === undefined) ? { because: showReasons(plan.because) } : {};
      this.#log.info('pod phase changed', { pod, uid, from: this.#phases.get(uid) ?? 'new', to: phase, ...waits });
      this.#phases.set(uid, phase);
    }
    // That the engine cannot be asked is logged once, for all pods, by the relist.
    if (failed !== undefined && failed !== 'interrupted' && !record.unobserved)
      this.#log.warn('pod step failed', { pod, error: failed, next: showNext(record.next) });
    if (phase === undefined) this.#phases.delete(uid);
  }

  noted({ uid, message, fields }: StepNote): void {
    this.#log.v(4, 'step under way', { uid, news: message, ...fields });
  }

  #story({ pod, uid, wakes, life, plan, outcomes, observeMs, totalMs, phase, failed, next }: ReconcileRecord): void {
    this.#log.v(4, 'reconciled', {
      pod,
      uid,
      woken: wakes.join(', '),
      life,
      ...(phase === undefined ? {} : { phase }),
      because: showReasons(plan.because),
      did: outcomes.map(showOutcome).join('; '),
      ...(failed === undefined ? {} : { failed }),
      observeMs,
      totalMs,
      next: showNext(next),
    });
  }

  #step(pod: string, { action, tookMs }: ActionOutcome, because: readonly string[]): void {
    const message = done[action.do];
    if (message === undefined) return;
    const { do: _do, ...fields } = action;
    this.#log.info(message, { pod, ...fields, tookMs, ...('why' in action ? {} : { because: showReasons(because) }) });
  }
}

/** Steps that are a line each; others are in the story at `--v=4`. */
const done: Partial<Record<PodAction['do'], string>> = {
  runSandbox: 'sandbox started',
  stopSandbox: 'sandbox stopped',
  startContainer: 'container started',
  stopContainer: 'container stopped',
};

/** A pod of thousands of containers has a reason for each, and a line for each start. */
const MOST_REASONS = 20;

function showReasons(because: readonly string[]): string {
  const left = because.length - MOST_REASONS;
  return [...because.slice(0, MOST_REASONS), ...(left > 0 ? [`and ${left} more`] : [])].join('; ');
}

function showOutcome({ action, tookMs, note, error }: ActionOutcome): string {
  const what = [action.do, ...subjectOf(action)].join(' ');
  return `${what}: ${error ?? note ?? 'ok'} (${tookMs} ms)`;
}

function subjectOf(action: PodAction): readonly string[] {
  if ('name' in action) return [action.name];
  if ('attempt' in action) return [`attempt ${action.attempt}`];
  return 'id' in action ? [action.id.slice(0, 12)] : [];
}

function showNext(next: Next | 'back-off'): string {
  if (next === 'back-off') return 'after a back-off';
  return next === 'on-change' ? 'on change' : `in ${Math.round(next.afterMs / 100) / 10} s`;
}
