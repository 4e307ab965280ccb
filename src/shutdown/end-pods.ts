import { filter, merge, type Observable } from 'rxjs';
import { deadline } from '../base/deadline.ts';
import { firstOf } from '../base/first-of.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { isStaticPod } from '../model/mirror-pod.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { type Pod, showPod } from '../model/pod.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { shutdownGroups } from './shutdown-groups.ts';
import type { GraceOfPriority } from './shutdown-table.ts';

export type EndPodsDeps = Pick<NodeParts, 'clock' | 'log' | 'pods' | 'statuses' | 'updates' | 'ends' | 'cluster'>;

/** In the kubelet's words (pkg/kubelet/nodeshutdown). */
export const TERMINATED = 'Terminated';
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';

/** What of the time an agent that has just begun may wait for those who declare its pods. */
const DECLARING_MS = 10_000;
const DECLARING_SHARE = 0.3;
/** What of the time is kept to tell the API server what became of the pods. */
const TELLING_MS = 2_000;
const TELLING_SHARE = 0.1;
/** The machine goes at the end of the time: what is done by then is done a little before. */
const MARGIN_MS = 100;

/**
 * Ends all pods, one group after the other, within `delayMs`, and waits until the API server knows. What is still running when the time for
 * that begins is killed, and what was cut short is logged. Rejects where `signal` aborts: pods of later groups go on.
 */
export async function endPods(deps: EndPodsDeps, table: readonly GraceOfPriority[], delayMs: number, signal: AbortSignal): Promise<void> {
  const { clock, log, pods, cluster, ends } = deps;
  const beganMs = clock.monotonicMs();
  const tellingMs = cluster.exists ? Math.min(TELLING_MS, delayMs * TELLING_SHARE) : 0;
  const stopByMs = beganMs + delayMs - tellingMs - MARGIN_MS;
  if (!pods.synced) await untilDeclared(deps, Math.min(DECLARING_MS, delayMs * DECLARING_SHARE), signal);
  const running = pods.list().flatMap(({ pod }) => (isOver(deps, pod) ? [] : [pod]));
  for (const group of shutdownGroups(table, running)) {
    signal.throwIfAborted();
    if (group.pods.length === 0) continue;
    const { priority, seconds } = group;
    const ofGroup = group.pods.map(({ pod }) => pod);
    log.info('pods end with the machine', { priority, seconds, pods: ofGroup.length });
    for (const { pod, graceSeconds } of group.pods) ends.end(pod.metadata.uid, { reason: TERMINATED, message: MESSAGE, graceSeconds });
    const byMs = Math.min(clock.monotonicMs() + seconds * 1000, stopByMs);
    const late = await untilNone(deps, () => ofGroup.filter((pod) => !isOver(deps, pod)), byMs, signal);
    if (late.length > 0) log.warn('pods have not stopped in the time of their group', { priority, seconds, pods: late.map(showPod) });
  }
  const left = running.filter((pod) => !isOver(deps, pod));
  if (!cluster.exists) return;
  if (left.length > 0) log.warn('pods are killed while the API server can still be told', { pods: left.map(showPod) });
  for (const { metadata } of left) ends.end(metadata.uid, { reason: TERMINATED, message: MESSAGE, graceSeconds: 0 });
  const byMs = Math.min(clock.monotonicMs() + Math.max(tellingMs, TELLING_MS), beganMs + delayMs - MARGIN_MS);
  const untold = await untilNone(deps, () => running.filter((pod) => !isTold(deps, pod)), byMs, signal);
  if (untold.length > 0)
    log.warn('the API server does not know of the end of pods as the machine goes down', { pods: untold.map(showPod) });
}

/** Until all who declare pods have spoken, no longer than that. */
async function untilDeclared({ clock, log, pods }: EndPodsDeps, waitMs: number, signal: AbortSignal): Promise<void> {
  using within = deadline(clock, waitMs, 'the wait for all sources of pods', signal);
  try {
    await unlessAborted(pods.syncedOnce, within.signal);
  } catch (error) {
    if (!within.missed) throw error;
    log.warn('not all sources of pods have spoken as the machine goes down: only the pods of those that have are ended', { waitMs });
  }
}

const isOver = ({ statuses, pods }: EndPodsDeps, { metadata: { uid }, status }: Pod): boolean =>
  isTerminalPhase(statuses.get(uid)?.phase ?? status?.phase) || pods.get(uid) === undefined;

/** Static pods come back with the machine: their end need not be reported. */
function isTold({ pods }: EndPodsDeps, pod: Pod): boolean {
  const known = pods.get(pod.metadata.uid)?.pod;
  return known === undefined || isStaticPod(known) || isTerminalPhase(known.status?.phase);
}

/** Waits for that, no longer than then. Resolves with who is left. */
async function untilNone(
  { clock, statuses, updates }: EndPodsDeps,
  left: () => readonly Pod[],
  byMs: number,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const waitMs = byMs - clock.monotonicMs();
  if (left().length === 0 || waitMs <= 0) return left();
  using within = deadline(clock, waitMs, 'the wait for pods', signal);
  const changes: Observable<unknown> = merge(statuses.changes, updates);
  try {
    await firstOf(changes.pipe(filter(() => left().length === 0)), within.signal);
  } catch (error) {
    if (!within.missed) throw error;
  }
  return left();
}
