import { filter, merge, type Observable, Subject } from 'rxjs';
import { deadline } from '../base/deadline.ts';
import { firstOf } from '../base/first-of.ts';
import { isCriticalPod } from '../model/critical-pod.ts';
import type { NodeUse } from '../model/node-use.ts';
import type { PodRefusal } from '../model/pod-admission.ts';
import { isTerminalPhase } from '../model/pod-predicates.ts';
import { type Pod, type PodUid, aboutPod, showPod } from '../model/pod.ts';
import { PREEMPTED, preemptedEnd } from '../model/preemption.ts';
import { roomFor } from '../model/room-for.ts';
import type { Happenings } from '../ports/happenings.ts';
import type { NodeParts } from '../ports/node-parts.ts';

export type RoomMakerDeps = Pick<NodeParts, 'clock' | 'pods' | 'statuses' | 'ends' | 'events' | 'tell' | 'log'>;

/** killPodNow in pkg/kubelet waits half as long again as the grace period, and no less than this, for a pod's end. */
const MIN_WAIT_MS = 10_000;

/**
 * Ends pods so that a critical one finds room (pkg/kubelet/preemption). Other than the kubelet it never lets the critical pod begin beside
 * what it has ended: where that does not stop in time the pod is tried again, and nothing more is ended for it.
 */
export class RoomMaker {
  readonly #deps: RoomMakerDeps;
  readonly #ended = new Subject<PodUid>();
  /** By pod that was ended: how long to wait for that, on the monotonic clock. */
  readonly #untilMs = new Map<PodUid, number>();

  constructor(deps: RoomMakerDeps) {
    this.#deps = deps;
  }

  readonly listener: Pick<Happenings, 'podEnded'> = {
    podEnded: ({ uid }) => {
      this.#untilMs.delete(uid);
      this.#ended.next(uid);
    },
  };

  /** Whether there is room now, all that was ended for it having stopped. Rejects while that has not stopped. */
  async makeRoom(pod: Pod, { lacking }: PodRefusal, others: NodeUse, signal: AbortSignal): Promise<boolean> {
    const { ends, log } = this.#deps;
    if (!lacking || !isCriticalPod(pod)) return false;
    const ending = others.pods.filter(({ metadata }) => ends.of(metadata.uid) !== undefined);
    const running = others.pods.filter((other) => !ending.includes(other));
    const room = roomFor(pod, running, lacking, ending);
    if (!('preempted' in room)) return false;
    for (const other of room.preempted) {
      log.info('pod preempted for a critical one', { ...aboutPod(other), critical: showPod(pod), lacking: lacking[0]?.resource });
      this.#preempt(other, lacking[0]?.resource ?? '');
    }
    await this.#untilStopped([...ending, ...room.preempted], signal);
    return true;
  }

  #preempt(pod: Pod, signal: string): void {
    const { clock, ends, events, tell } = this.#deps;
    const { uid } = pod.metadata;
    events.record(pod, 'Warning', 'Preempting', PREEMPTED);
    ends.end(uid, preemptedEnd);
    tell.podPreempted({ uid, signal });
    const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 0) * 1000;
    this.#untilMs.set(uid, clock.monotonicMs() + Math.max(MIN_WAIT_MS, graceMs * 1.5));
  }

  async #untilStopped(pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    const { clock, statuses } = this.#deps;
    const left = (): readonly Pod[] => pods.filter((pod) => !this.#isStopped(pod));
    if (left().length === 0) return;
    const nowMs = clock.monotonicMs();
    const untilMs = Math.max(...left().map(({ metadata }) => this.#untilMs.get(metadata.uid) ?? nowMs + MIN_WAIT_MS));
    const late = (): Error => new Error(`room is made by the end of ${left().map(showPod).join(', ')}, which has not stopped yet`);
    if (untilMs <= nowMs) throw late();
    using within = deadline(clock, untilMs - nowMs, late, signal);
    const changes: Observable<unknown> = merge(statuses.changes, this.#ended);
    await firstOf(changes.pipe(filter(() => left().length === 0)), within.signal);
  }

  /** A pod that is no longer declared has stopped when the agent has seen its end. */
  #isStopped({ metadata: { uid } }: Pod): boolean {
    const { pods, statuses } = this.#deps;
    const status = statuses.get(uid);
    return isTerminalPhase(status?.phase) || (status === undefined && pods.get(uid) === undefined);
  }
}
