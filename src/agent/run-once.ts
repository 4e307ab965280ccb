import { filter, from, merge, startWith, timer } from 'rxjs';
import { aborted } from '../base/aborted.ts';
import type { Clock } from '../base/clock.ts';
import { firstOf } from '../base/first-of.ts';
import type { Logger } from '../base/logger.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { type PodUid, showPod } from '../model/pod.ts';
import type { PodSource } from '../ports/pod-source.ts';
import { podVerdict, type PodVerdict } from './status/pod-verdict.ts';
import type { PodStatuses } from '../ports/pod-statuses.ts';
import type { PodStore } from '../ports/pod-store.ts';
import type { Staged } from '../ports/staged.ts';

/** Ten retries after 1 s, 2 s, 4 s and so on: as long as the kubelet gives a pod (pkg/kubelet/runonce.go). */
const TIMEOUT_MS = 1_023_000;

/** Longer than a manifest URL may take to answer. (The kubelet gives its sources one second: pkg/kubelet/runonce.go.) */
const SOURCES_TIMEOUT_MS = 15_000;

export interface RunOnceDeps {
  /** Runs the whole agent, and this with it, until the signal aborts. */
  readonly run: (signal: AbortSignal, besides: Staged) => Promise<void>;
  readonly pods: Pick<PodStore, 'list' | 'synced' | 'syncedOnce'>;
  /** Where the pods come from. */
  readonly sources: readonly Pick<PodSource, 'isFaulty'>[];
  readonly statuses: Pick<PodStatuses, 'changes'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Brings the pods of the first complete snapshots up, once, says what became of each, and leaves them running. Resolves with 0 if all came
 * up and every manifest is valid, else 1, also when aborted. Rejects when a service fails.
 */
export async function runOnce({ run, pods, sources, statuses, clock, log, signal }: RunOnceDeps): Promise<number> {
  const stop = new AbortController();
  const over = AbortSignal.any([signal, stop.signal]);
  const reading = Promise.withResolvers<void>();
  const done = run(over, {
    name: 'run once',
    stage: 'intake',
    run: async (until) => {
      reading.resolve();
      await aborted(until);
    },
  });
  // Nothing comes up without the service that failed: why is known at the end.
  const failed = done.catch(() => stop.abort());
  const verdicts = new Map<PodUid, PodVerdict>();
  const missing = (): readonly string[] =>
    pods
      .list()
      .filter(({ pod }) => !verdicts.has(pod.metadata.uid))
      .map(({ pod }) => showPod(pod));
  const heard = statuses.changes.subscribe(({ pod, status }) => {
    const verdict = podVerdict(pod, status);
    const before = verdicts.get(pod.metadata.uid);
    // What was seen running may fail while others are waited for.
    if (!verdict || before?.up === false || before?.up === verdict.up) return;
    verdicts.set(pod.metadata.uid, verdict);
    const fields = { pod: showPod(pod), result: verdict.why };
    if (verdict.up) log.info('pod is up', fields);
    else log.error('pod did not come up', fields);
  });
  try {
    // Before that nothing has asked the sources.
    await unlessAborted(reading.promise, over);
    await firstOf(merge(from(pods.syncedOnce), timer(SOURCES_TIMEOUT_MS, clock)), over);
    if (!pods.synced) {
      log.error('manifests not read', { waitedMs: SOURCES_TIMEOUT_MS });
      return 1;
    }
    const news = merge(statuses.changes, timer(TIMEOUT_MS, clock));
    let late = false;
    const all = news.pipe(
      startWith(undefined),
      filter((what) => (late ||= what === 0) || missing().length === 0),
    );
    await firstOf(all, over);
    for (const pod of missing()) log.error('pod did not come up', { pod, result: `nothing certain within ${TIMEOUT_MS / 1000} s` });
  } catch (error) {
    if (stop.signal.aborted) await done;
    if (!signal.aborted) throw error;
    log.warn('stopped before the result of every pod was known', { pods: missing() });
    return 1;
  } finally {
    heard.unsubscribe();
    stop.abort();
    await failed;
  }
  await done;
  if (sources.some(({ isFaulty }) => isFaulty?.())) return 1;
  return missing().length === 0 && [...verdicts.values()].every(({ up }) => up) ? 0 : 1;
}
