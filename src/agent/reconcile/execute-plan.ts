import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import type { ActionOutcome, PodAction } from '../../ports/pod-plan.ts';
import { notTraced, type Tracing } from '../../ports/tracing.ts';

/** What came of an action that worked, where that is more than that it worked. */
export interface ActionNote {
  readonly note: string;
  /** When the pod is to be looked at again for that, in milliseconds from now. */
  readonly retryInMs?: number;
}

/** One executor an action: thin, and given everything. `next` is what is to be done after it, so that it may be made ready meanwhile. */
export type Executors<Context> = {
  readonly [D in PodAction['do']]: (
    action: Extract<PodAction, { do: D }>,
    context: Context,
    signal: AbortSignal,
    next?: PodAction,
  ) => Promise<ActionNote | void>;
};

export interface Execution {
  readonly outcomes: readonly ActionOutcome[];
  /** What failed, in order; the step that ended the run is the last. */
  readonly errors: readonly unknown[];
  /** When to look again for what the actions noted, in milliseconds from now. */
  readonly retryInMs: number | undefined;
}

/**
 * Runs the actions in order; stops in a row run together. A container that does not start, or stays on its CPUs, leaves its neighbours alone, after a failed
 * `prepare` nothing is started and after a failed `updateContainer` nothing is updated; any other failure ends the run.
 */
export async function executePlan<Context>(
  actions: readonly PodAction[],
  executors: Executors<Context>,
  context: Context,
  {
    clock,
    signal,
    onBegun,
    tracing = notTraced,
  }: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly signal: AbortSignal;
    readonly onBegun?: (action: PodAction) => void;
    readonly tracing?: Tracing;
  },
): Promise<Execution> {
  const outcomes: ActionOutcome[] = [];
  const errors: unknown[] = [];
  let retryInMs: number | undefined;
  let isPrepared = true;
  let updates = true;
  const one = async (action: PodAction, next: PodAction | undefined): Promise<boolean> => {
    const startedAtMs = clock.monotonicMs();
    const tookMs = (): number => clock.monotonicMs() - startedAtMs;
    onBegun?.(action);
    try {
      const noted = await tracing.within({ do: 'act', action }, () => execute(action, executors, context, signal, next));
      if (noted?.retryInMs !== undefined) retryInMs = Math.min(noted.retryInMs, retryInMs ?? noted.retryInMs);
      outcomes.push({ action, tookMs: tookMs(), ...(noted && { note: noted.note }) });
      return true;
    } catch (error) {
      outcomes.push({ action, tookMs: tookMs(), error: errorText(error) });
      errors.push(error);
      return false;
    }
  };
  const groups = groupStops(actions);
  for (const [index, group] of groups.entries()) {
    if (signal.aborted) break;
    const kind = group[0]?.do;
    if (!isPrepared && (kind === 'runSandbox' || kind === 'startContainer')) continue;
    if (!updates && kind === 'updateContainer') continue;
    const results = await Promise.all(group.map((action) => one(action, groups[index + 1]?.[0])));
    if (results.every(Boolean) || kind === 'startContainer' || kind === 'pinContainer') continue;
    if (kind === 'prepare') isPrepared = false;
    else if (kind === 'updateContainer') updates = false;
    else break;
  }
  return { outcomes, errors, retryInMs };
}

function execute<D extends PodAction['do'], Context>(
  action: Extract<PodAction, { do: D }>,
  executors: Executors<Context>,
  context: Context,
  signal: AbortSignal,
  next: PodAction | undefined,
): Promise<ActionNote | void> {
  return executors[action.do](action, context, signal, next);
}

function groupStops(actions: readonly PodAction[]): readonly (readonly PodAction[])[] {
  const groups: PodAction[][] = [];
  for (const action of actions) {
    const last = groups.at(-1);
    if (action.do === 'stopContainer' && last?.[0]?.do === 'stopContainer') last.push(action);
    else groups.push([action]);
  }
  return groups;
}
