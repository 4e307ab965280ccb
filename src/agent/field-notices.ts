import type { Logger } from '../base/logger.ts';
import { OngoingFaults } from '../base/ongoing-faults.ts';
import type { PodUpdate } from '../model/pod-update.ts';
import { type Pod, type PodUid, aboutPod } from '../model/pod.ts';
import { explainUnhonoured, unhonouredFields } from '../model/spec-ledger/unhonoured-fields.ts';
import type { Engine } from '../ports/engine.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';

/**
 * Reports of each pod once, in an event and in the log, what of its spec it runs without or not quite with; again when that changes. What
 * is refused is reported where it is refused.
 */
export class FieldNotices {
  readonly #events: EventRecorder;
  readonly #log: Logger;
  readonly #engine: Pick<Engine, 'lastFeatures'>;
  readonly #reported = new OngoingFaults<PodUid>();

  constructor(events: EventRecorder, log: Logger, engine: Pick<Engine, 'lastFeatures'>) {
    this.#events = events;
    this.#log = log;
    this.#engine = engine;
  }

  take({ op, pods }: PodUpdate): void {
    for (const pod of pods) {
      if (op === 'REMOVE') this.#reported.over(pod.metadata.uid);
      else this.#look(pod);
    }
  }

  #look(pod: Pod): void {
    const { uid } = pod.metadata;
    const found = unhonouredFields(pod)
      .filter(({ field, is }) => is !== 'refused' && !this.#isHonouredHere(field))
      .map(explainUnhonoured);
    const message = found.join('; ');
    if (found.length === 0) this.#reported.over(uid);
    else if (this.#reported.fault(uid, message)) this.#report(pod, found, message);
  }

  /** What only some engines do as it is written. */
  #isHonouredHere(field: string): boolean {
    return field === 'spec.hostUsers' && this.#engine.lastFeatures()?.idsForEachPod === true;
  }

  #report(pod: Pod, found: readonly string[], message: string): void {
    this.#log.warn('pod uses fields that are not honoured', { ...aboutPod(pod), fields: found });
    this.#events.record(pod, 'Warning', 'FieldNotHonoured', message);
  }
}
