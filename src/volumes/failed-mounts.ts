import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import type { MountFault } from './mount-fault.ts';

interface Recorded {
  readonly message: string;
  readonly times: number;
  readonly againAtMs: number;
}

interface Pending {
  readonly recorded: Map<string, Recorded>;
  /** When the pod began to wait for its volumes, or was last said to wait. */
  waitsSinceMs: number | undefined;
}

/** The kubelet tries a mount again after as long (goroutinemap/exponentialbackoff), and records each try. */
const delayMs = exponential(500, 122_000);

/** How long the kubelet waits for a pod's volumes before it says so (podAttachAndMountTimeout in pkg/kubelet/volumemanager). */
const WAIT_MS = 123_000;

/** FailedMount and FailedMapVolume events: at once when something new is wrong, then as often as the kubelet records the same fault, however often it is met. */
export class FailedMounts {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #events: EventRecorder;
  readonly #pods = new Map<PodUid, Pending>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, events: EventRecorder) {
    this.#clock = clock;
    this.#events = events;
  }

  /** `subject`: the volume, or whatever else it is that fails. Returns when to try again, in milliseconds from now. */
  failed(pod: Pod, subject: string, { reason, message }: MountFault): number {
    const { recorded } = this.#pending(pod.metadata.uid);
    const before = recorded.get(subject);
    const nowMs = this.#clock.monotonicMs();
    const isEarly = before !== undefined && nowMs < before.againAtMs;
    if (!isEarly || before.message !== message) this.#events.record(pod, 'Warning', reason, message);
    // Words that differ each time do not make it be tried the more often.
    const times = isEarly ? before.times : (before?.times ?? 0) + 1;
    const againAtMs = isEarly ? before.againAtMs : nowMs + delayMs(times);
    recorded.set(subject, { message, times, againAtMs });
    return againAtMs - nowMs;
  }

  worked({ metadata }: Pod, subject: string): void {
    this.#pods.get(metadata.uid)?.recorded.delete(subject);
  }

  /** The pod cannot begin without these: said after as long as the kubelet waits, and again each time as long. */
  waits(pod: Pod, unmounted: readonly string[], all: readonly string[]): void {
    const pending = this.#pending(pod.metadata.uid);
    const nowMs = this.#clock.monotonicMs();
    pending.waitsSinceMs ??= nowMs;
    if (nowMs - pending.waitsSinceMs < WAIT_MS) return;
    pending.waitsSinceMs = nowMs;
    this.#events.record(pod, 'Warning', 'FailedMount', unableToMount(unmounted, all, 'timed out waiting for the condition'));
  }

  /** Every volume of the pod is there. */
  complete({ metadata }: Pod): void {
    const pending = this.#pods.get(metadata.uid);
    if (pending) pending.waitsSinceMs = undefined;
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  #pending(uid: PodUid): Pending {
    const pending = this.#pods.get(uid) ?? { recorded: new Map(), waitsSinceMs: undefined };
    this.#pods.set(uid, pending);
    return pending;
  }
}

/** The kubelet's words (WaitForAttachAndMount); nothing counts as attached there, so that the second list is of all volumes. */
export function unableToMount(unmounted: readonly string[], all: readonly string[], why: string): string {
  return `Unable to attach or mount volumes: unmounted volumes=[${unmounted.join(' ')}], unattached volumes=[${all.join(' ')}]: ${why}`;
}
