import { isTerminalPhase } from '../model/pod-predicates.ts';
import type { PodUid } from '../model/pod.ts';
import type { NodeParts } from '../ports/node-parts.ts';

/** killPodNow in pkg/kubelet waits half as long again as the grace period, and no less than this, for a pod's end. */
const MIN_LEAVING_MS = 10_000;

/** Pods that were evicted and still have a grace period of their own. */
export class LeavingPods {
  readonly #deps: Pick<NodeParts, 'clock' | 'log' | 'pods' | 'statuses' | 'ends'>;
  /** Until when each is waited for, on the monotonic clock. */
  readonly #untilMs = new Map<PodUid, number>();

  constructor(deps: Pick<NodeParts, 'clock' | 'log' | 'pods' | 'statuses' | 'ends'>) {
    this.#deps = deps;
  }

  add(uid: PodUid, graceSeconds: number): void {
    this.#untilMs.set(uid, this.#deps.clock.monotonicMs() + Math.max(MIN_LEAVING_MS, graceSeconds * 1_500));
  }

  /** Whether one is still waited for. */
  any(): boolean {
    const { clock, pods, statuses } = this.#deps;
    const nowMs = clock.monotonicMs();
    for (const [uid, untilMs] of this.#untilMs)
      if (nowMs >= untilMs || pods.get(uid) === undefined || isTerminalPhase(statuses.get(uid)?.phase)) this.#untilMs.delete(uid);
    return this.#untilMs.size > 0;
  }

  /** Leaves them no more than this, before another pod has to go: what is short cannot wait any longer. Answers with who they are. */
  hurry(graceSeconds: number): readonly PodUid[] {
    const { ends, log } = this.#deps;
    const hurried = [...this.#untilMs.keys()];
    this.#untilMs.clear();
    for (const uid of hurried) {
      const end = ends.of(uid);
      if (end === undefined) continue;
      log.warn('the evicted pod has no longer to end: the node is short of more', { uid, graceSeconds });
      ends.end(uid, { ...end, graceSeconds });
    }
    return hurried;
  }
}
