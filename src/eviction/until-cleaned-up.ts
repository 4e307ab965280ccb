import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodUid } from '../model/pod.ts';
import type { Given } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';

type Deps = Pick<NodeParts, 'clock' | 'log' | 'pods' | 'statuses'>;
type Participants = Given['participants'];

/** podCleanupTimeout and podCleanupPollFreq of the kubelet. */
const CLEANED_UP_WITHIN_MS = 30_000;
const CLEAN_UP_LOOK_MS = 1_000;

/** Until nothing of the pods is left that the node is short of, or 30 s have passed: then others may have to go in their place. */
export async function untilCleanedUp(deps: Deps, uids: readonly PodUid[], participants: Participants, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const sinceMs = clock.monotonicMs();
  let left = uids;
  while (left.length > 0 && clock.monotonicMs() - sinceMs < CLEANED_UP_WITHIN_MS) {
    await clock.sleep(CLEAN_UP_LOOK_MS, signal);
    const over = await Promise.all(left.map((uid) => isCleanedUp(deps, uid, participants, signal)));
    left = left.filter((_, index) => !over[index]);
  }
  for (const uid of left) log.warn('the evicted pod is not over yet, looking on', { uid, waitedMs: CLEANED_UP_WITHIN_MS });
}

async function isCleanedUp(
  { clock, pods, statuses }: Deps,
  uid: PodUid,
  participants: Participants,
  signal: AbortSignal,
): Promise<boolean> {
  // Its controller may have deleted it at once: what it leaves takes as much room.
  if (pods.get(uid) !== undefined && !isTerminalPhase(statuses.get(uid)?.phase)) return false;
  try {
    const remains = await withDeadline(clock, CLEAN_UP_LOOK_MS, 'looking for what is left of a pod', signal, (within) =>
      unlessAborted(Promise.all(participants.map(async ({ pod }) => pod.remains?.(uid, within))), within),
    );
    return remains.every((each) => each === undefined);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
