import { filter, merge, startWith, timer } from 'rxjs';
import type { Clock } from './base/clock.ts';
import { firstOf } from './base/first-of.ts';
import type { Logger } from './base/logger.ts';
import { runServices } from './base/run-services.ts';
import type { Kubelet } from './kubelet.ts';
import { type PodUid, showPod } from './model/pod.ts';
import type { PodSource } from './ports/pod-source.ts';
import { podVerdict, type PodVerdict } from './status/pod-verdict.ts';
import type { PodStatusManager } from './status/status-manager.ts';

/** Ten retries after 1 s, 2 s, 4 s and so on: as long as the kubelet gives a pod (pkg/kubelet/runonce.go). */
const TIMEOUT_MS = 1_023_000;

/** Longer than a manifest URL may take to answer. (The kubelet gives its sources one second: pkg/kubelet/runonce.go.) */
const SOURCES_TIMEOUT_MS = 15_000;

export interface RunOnceDeps {
  /** With the phases of all that the pods need: credentials, network and probes as well. */
  readonly agent: Pick<Kubelet, 'phases' | 'pods' | 'synced'>;
  /** Where the pods come from. */
  readonly sources: readonly Pick<PodSource, 'isFaulty'>[];
  readonly statuses: PodStatusManager;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Brings the pods of the first complete snapshots up, once, says what became of each, and leaves them running. Resolves with 0 if all came
 * up and every manifest is valid, else 1, also when aborted. Rejects when a service fails.
 */
export async function runOnce({ agent, sources, statuses, clock, log, signal }: RunOnceDeps): Promise<number> {
  const stop = new AbortController();
  const over = AbortSignal.any([signal, stop.signal]);
  const done = runServices(agent.phases, over);
  // Nothing comes up without the service that failed: why is known at the end.
  const failed = done.catch(() => stop.abort());
  const verdicts = new Map<PodUid, PodVerdict>();
  const missing = (): readonly string[] =>
    agent.pods
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
    if (!agent.pods.synced) {
      await firstOf(merge(agent.synced, timer(SOURCES_TIMEOUT_MS, clock)), over);
      if (!agent.pods.synced) {
        log.error('the manifests could not be read', { waitedMs: SOURCES_TIMEOUT_MS });
        return 1;
      }
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
    log.warn('stopped before it was known of every pod whether it is up', { pods: missing() });
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
