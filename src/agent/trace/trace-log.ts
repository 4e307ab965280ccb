import type { Clock } from '../../base/clock.ts';
import type { HeardLine } from '../../base/heard-logger.ts';
import type { Logger } from '../../base/logger.ts';
import type { PodUid } from '../../model/pod.ts';
import type { ReconciledFields } from '../../model/stream-entry.ts';
import type { Happenings, StepNote } from '../../ports/happenings.ts';
import type { ActionOutcome, PodAction, ReconcileRecord } from '../../ports/pod-plan.ts';
import type { Next } from '../../ports/work-queue.ts';

/** Of all records, and of what is said of them. */
export const RECONCILE = 'reconcile';

export interface TraceDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** What is logged and heard. */
  readonly log: Logger;
  /** What is only printed: the same as heard records are, for people. */
  readonly printed: Logger;
  readonly hear: (line: HeardLine) => void;
}

/**
 * Reconcile records as log lines and entries. At `--v=4` one line a reconcile: what woke it, why it did what, with what outcome, and when it
 * looks again. Below that only transitions: a phase that changed, steps that were taken, a failure. Each record is heard, with all it says
 * (ReconciledFields), but for one of a look that only came round and repeats the one before: nothing has happened.
 */
export class TraceLog implements Pick<Happenings, 'reconciled' | 'noted'> {
  readonly #deps: TraceDeps;
  readonly #phases = new Map<PodUid, string>();
  /** Of the pods at which nothing was to be done: why not. */
  readonly #rests = new Map<PodUid, string>();

  constructor(deps: TraceDeps) {
    this.#deps = deps;
  }

  reconciled(record: ReconcileRecord): void {
    const { log, printed, hear, clock } = this.#deps;
    const { uid, pod, plan, outcomes, phase, failed } = record;
    if (!this.#repeats(record))
      hear({ stream: RECONCILE, level: 4, message: 'reconciled', fields: { pod, uid, ...reconciledFields(record, clock) } });
    if (printed.enabled(4)) this.#story(record);
    else for (const outcome of outcomes) if (outcome.error === undefined) this.#step(record, outcome);
    if (phase !== this.#phases.get(uid) && phase !== undefined) {
      // What waits and does nothing has no other line that says why.
      const waits =
        phase === 'Pending' && outcomes.every(({ action }) => done[action.do] === undefined) ? { because: showReasons(plan.because) } : {};
      log.info('pod phase changed', { pod, uid, from: this.#phases.get(uid) ?? 'new', to: phase, ...waits });
      this.#phases.set(uid, phase);
    }
    // That the engine cannot be asked is logged once, for all pods, by the relist.
    if (failed !== undefined && failed !== 'interrupted' && !record.unobserved)
      log.warn('pod step failed', { pod, uid, error: failed, next: showNext(record.next) });
    if (phase === undefined) this.#phases.delete(uid);
  }

  noted({ uid, message, fields }: StepNote): void {
    this.#deps.log.v(4, 'step under way', { uid, news: message, ...fields });
  }

  /** Whether it says only what was heard of the pod before. */
  #repeats({ uid, wakes, life, plan, outcomes, phase, failed }: ReconcileRecord): boolean {
    if (failed !== undefined || phase === undefined || plan.held !== undefined || !outcomes.every(isNothing)) {
      this.#rests.delete(uid);
      return false;
    }
    const rest = `${life} ${phase}: ${plan.because.join('; ')}`;
    const repeats = this.#rests.get(uid) === rest && wakes.every((wake) => wake === 'due');
    if (!repeats) this.#rests.set(uid, rest);
    return repeats;
  }

  #story({ pod, uid, wakes, life, plan, outcomes, observeMs, totalMs, phase, failed, next }: ReconcileRecord): void {
    this.#deps.printed.v(4, 'reconciled', {
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

  #step({ pod, uid, plan }: ReconcileRecord, { action, tookMs }: ActionOutcome): void {
    const message = done[action.do];
    if (message === undefined) return;
    const { do: _do, ...fields } = action;
    const because = 'why' in action ? {} : { because: showReasons(plan.because) };
    this.#deps.printed.info(message, { pod, uid, ...fields, tookMs, ...because });
  }
}

/** What the pod needs was found to be as it is to be. */
const isNothing = ({ action, note, error }: ActionOutcome): boolean => action.do === 'prepare' && note === undefined && error === undefined;

/** Steps that are a line each; others are in the story at `--v=4`. */
const done: Partial<Record<PodAction['do'], string>> = {
  runSandbox: 'sandbox started',
  stopSandbox: 'sandbox stopped',
  startContainer: 'container started',
  stopContainer: 'container stopped',
};

/** A pod of thousands of containers has a reason for each, and a line for each start. */
const MOST_REASONS = 20;

function mainReasons(because: readonly string[]): readonly string[] {
  const left = because.length - MOST_REASONS;
  return left > 0 ? [...because.slice(0, MOST_REASONS), `and ${left} more`] : because;
}

const showReasons = (because: readonly string[]): string => mainReasons(because).join('; ');

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

/** What a reader of entries is shown of a record. */
function reconciledFields(record: ReconcileRecord, clock: Pick<Clock, 'now' | 'monotonicMs'>): ReconciledFields {
  const { wakes, life, phase, plan, outcomes, failed, observeMs, totalMs, next } = record;
  const held = plan.held ?? [];
  const dateMs = held.length > 0 ? clock.now() - clock.monotonicMs() : 0;
  return {
    woken: wakes,
    life,
    ...(phase !== undefined && { phase }),
    because: mainReasons(plan.because),
    actions: outcomes.map(({ action, tookMs, note, error }) => ({
      ...action,
      tookMs,
      ...(note !== undefined && { note }),
      ...(error !== undefined && { error }),
    })),
    ...(held.length > 0 && { held: held.map(({ name, notBeforeMs }) => ({ name, untilMs: dateMs + notBeforeMs })) }),
    ...(failed !== undefined && { failed }),
    observeMs,
    totalMs,
    next,
  };
}
