import type { Logger } from './base/logger.ts';
import type { PodUpdate } from './model/pod-update.ts';
import { type Pod, type PodUid, showPod } from './model/pod.ts';
import { explainUnhonoured, unhonouredFields } from './model/spec-ledger/unhonoured-fields.ts';
import type { EventRecorder } from './ports/event-recorder.ts';

/**
 * Tells of each pod once, in an event and in the log, what of its spec it runs without or not quite with; again when that changes. What
 * is refused is told by who refuses it.
 */
export class FieldNotices {
  readonly #events: EventRecorder;
  readonly #log: Logger;
  readonly #told = new Map<PodUid, string>();

  constructor(events: EventRecorder, log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  tell({ op, pods }: PodUpdate): void {
    for (const pod of pods) {
      if (op === 'REMOVE') this.#told.delete(pod.metadata.uid);
      else this.#tellOf(pod);
    }
  }

  #tellOf(pod: Pod): void {
    const { uid } = pod.metadata;
    const found = unhonouredFields(pod)
      .filter((found) => found.is !== 'refused')
      .map(explainUnhonoured);
    const message = found.join('; ');
    if (message === (this.#told.get(uid) ?? '')) return;
    this.#told.set(uid, message);
    if (found.length === 0) return;
    this.#log.warn('the pod uses fields that are not honoured', { pod: showPod(pod), fields: found });
    this.#events.record(pod, 'Warning', 'FieldNotHonoured', message);
  }
}
