import type { Clock } from '../base/clock.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import type { PodUid } from '../model/pod.ts';
import type { ContainerRuntime } from '../ports/container-runtime.ts';
import type { Given } from '../ports/contribution.ts';
import type { PodRemains } from './pod-reclaim.ts';

/** As long may one take to say what it has: other pods' statuses wait. */
const REMAINS_WITHIN_MS = 10_000;

/** What a pod still holds on this node, by the engine and by all who gave it something. Rejects where one of them cannot say. */
export function podRemains(
  runtime: Pick<ContainerRuntime, 'observePod'>,
  participants: Given['participants'],
  clock: Pick<Clock, 'schedule' | 'monotonicMs'>,
): (uid: PodUid, signal: AbortSignal) => Promise<PodRemains> {
  return async (uid, signal) => {
    const { containers, sandboxes } = await runtime.observePod(uid, signal);
    const others = await Promise.all(
      participants.map(async ({ name, pod }) =>
        withDeadline(clock, REMAINS_WITHIN_MS, `what ${name} still has of the pod`, signal, (within) =>
          unlessAborted(Promise.resolve(pod.remains?.(uid, within)), within),
        ),
      ),
    );
    return { containers: containers.length, sandboxes: sandboxes.length, others: others.filter((other) => other !== undefined) };
  };
}
