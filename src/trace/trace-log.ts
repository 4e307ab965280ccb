import type { Logger } from '../base/logger.ts';
import type { PodUid } from '../model/pod.ts';
import type { ActionOutcome, PodAction, ReconcileRecord, Trace } from '../ports/pod-plan.ts';
import type { Next } from '../ports/work-queue.ts';

/**
 * Reconcile records as log lines. At `--v=4` one line a reconcile: what woke it, why it did what, with what outcome, and when it looks
 * again. Below that only transitions: a phase that changed, steps that were taken, a failure.
 */
export class TraceLog implements Trace {
  readonly #log: Logger;
  readonly #phases = new Map<PodUid, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  record(record: ReconcileRecord): void {
    const { uid, pod, plan, outcomes, phase, failed } = record;
    if (this.#log.enabled(4)) this.#story(record);
    else for (const outcome of outcomes) if (outcome.error === undefined) this.#step(pod, outcome, plan.because);
    if (phase !== this.#phases.get(uid) && phase !== undefined) {
      // What waits and does nothing has no other line that says why.
      const waits = phase === 'Pending' && outcomes.length === 0 ? { because: showReasons(plan.because) } : {};
      this.#log.info('pod phase changed', { pod, uid, from: this.#phases.get(uid) ?? 'new', to: phase, ...waits });
      this.#phases.set(uid, phase);
    }
    // That the engine cannot be asked is said once, for all pods, by whoever lists them.
    if (failed !== undefined && failed !== 'interrupted' && !record.unobserved)
      this.#log.warn('pod step failed', { pod, error: failed, next: showNext(record.next) });
    if (phase === undefined) this.#phases.delete(uid);
  }

  note(uid: PodUid, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
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
    if (action.do === 'removeContainer' || action.do === 'removeSandbox') return;
    const { do: _do, ...fields } = action;
    this.#log.info(done[action.do], { pod, ...fields, tookMs, ...('why' in action ? {} : { because: showReasons(because) }) });
  }
}

const done = {
  runSandbox: 'sandbox started',
  stopSandbox: 'sandbox stopped',
  startContainer: 'container started',
  stopContainer: 'container stopped',
} as const satisfies Partial<Record<PodAction['do'], string>>;

/** A pod of thousands of containers has a reason for each, and a line for each start. */
const MOST_REASONS = 20;

function showReasons(because: readonly string[]): string {
  const left = because.length - MOST_REASONS;
  return [...because.slice(0, MOST_REASONS), ...(left > 0 ? [`and ${left} more`] : [])].join('; ');
}

function showOutcome({ action, tookMs, error }: ActionOutcome): string {
  const what = 'name' in action ? action.name : 'attempt' in action ? `attempt ${action.attempt}` : action.id.slice(0, 12);
  return `${action.do} ${what}: ${error ?? 'ok'} (${tookMs} ms)`;
}

function showNext(next: Next | 'back-off'): string {
  if (next === 'back-off') return 'after a back-off';
  return next === 'on-change' ? 'on change' : `in ${Math.round(next.afterMs / 100) / 10} s`;
}
