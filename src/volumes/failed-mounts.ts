import type { Clock } from '../base/clock.ts';
import { exponential } from '../base/exponential.ts';
import type { Pod, PodUid } from '../model/pod.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';

interface Told {
  readonly message: string;
  readonly times: number;
  readonly againAtMs: number;
}

/** The kubelet tries a mount again after as long (goroutinemap/exponentialbackoff), and tells each try. */
const delayMs = exponential(500, 122_000);

/** FailedMount events: at once when something new is wrong, then as often as the kubelet tells of the same fault, however often it is met. */
export class FailedMounts {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #events: EventRecorder;
  readonly #told = new Map<PodUid, Map<string, Told>>();

  constructor(clock: Pick<Clock, 'now'>, events: EventRecorder) {
    this.#clock = clock;
    this.#events = events;
  }

  failed(pod: Pod, volume: string, message: string): void {
    const { uid } = pod.metadata;
    const ofPod = this.#told.get(uid) ?? new Map<string, Told>();
    this.#told.set(uid, ofPod);
    const before = ofPod.get(volume);
    const times = before?.message === message ? before.times + 1 : 1;
    const nowMs = this.#clock.now();
    if (before !== undefined && times > 1 && nowMs < before.againAtMs) return;
    ofPod.set(volume, { message, times, againAtMs: nowMs + delayMs(times) });
    this.#events.record(pod, 'Warning', 'FailedMount', message);
  }

  worked({ metadata }: Pod, volume: string): void {
    this.#told.get(metadata.uid)?.delete(volume);
  }

  forget(uid: PodUid): void {
    this.#told.delete(uid);
  }
}
