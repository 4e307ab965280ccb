import type { Clock } from '../../base/clock.ts';
import { jitter } from '../../base/jitter.ts';
import type { LogFields, Logger } from '../../base/logger.ts';
import { momentOf } from '../../base/moment.ts';
import type { Service } from '../../base/service.ts';
import type { KubeApi } from '../../ports/kube-api.ts';
import type { CorrelatedEvent, EventCorrelator } from './event-correlator.ts';
import type { EventQueue } from './event-queue.ts';
import type { KubeEvent } from '../../model/kube-event.ts';
import { isExpectedRefusal, maySucceedLater, sendEvent } from './send-event.ts';

export interface EventSinkDeps {
  readonly clock: Clock;
  /** One that folds repeats. */
  readonly log: Logger;
  /** The door for events, which has its own rate limit. */
  readonly api: Pick<KubeApi, 'request'>;
  readonly queue: EventQueue<KubeEvent>;
  readonly correlator: EventCorrelator;
  /** For the first wait, so that the nodes of a cluster do not come back as one. */
  readonly random: () => number;
}

/** client-go tools/record maxTriesPerEvent, defaultSleepDuration */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

/**
 * How long the first event after a silence waits for others: about as long as a pod takes to start, so that no request that tells of a start
 * competes with it.
 */
const TOGETHER_MS = 500;

/** Sends queued events to the API server, one after the other, those of a moment together. An event that cannot be sent for about two minutes is dropped; one that is refused, at once. */
export class EventSink implements Service {
  readonly name = 'events';
  readonly #deps: EventSinkDeps;
  #taken = 0;
  /** In the order in which they ended: what waited for its turn then was still about them. */
  readonly #gone: { readonly uid: string; readonly afterTaken: number }[] = [];

  constructor(deps: EventSinkDeps) {
    this.#deps = deps;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, queue, correlator } = this.#deps;
    try {
      for (;;) {
        if (queue.size === 0) {
          await queue.filled(signal);
          await clock.sleep(TOGETHER_MS, signal);
        }
        const event = await queue.take(signal);
        const correlated = correlator.correlate(event, momentOf(clock));
        this.#taken++;
        this.#forgetGone();
        await this.#deliver(event, correlated, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** No more events about the object of this uid will be recorded: once those that wait are sent, what was sent about it is forgotten. */
  forget(uid: string): void {
    this.#gone.push({ uid, afterTaken: this.#taken + this.#deps.queue.size });
    this.#forgetGone();
  }

  #forgetGone(): void {
    for (let next = this.#gone[0]; next !== undefined && next.afterTaken <= this.#taken; next = this.#gone[0]) {
      this.#deps.correlator.forget(next.uid);
      this.#gone.shift();
    }
  }

  async #deliver(event: KubeEvent, correlated: CorrelatedEvent, signal: AbortSignal): Promise<void> {
    const { clock, log, api, random } = this.#deps;
    for (let tries = 1; ; tries++) {
      try {
        await sendEvent(api, correlated, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (isExpectedRefusal(error)) {
          log.v(4, 'event not taken', { ...about(event), error });
          return;
        }
        if (!maySucceedLater(error)) {
          log.warn('event refused by the API server', { ...about(event), error });
          return;
        }
        if (tries === MAX_TRIES) {
          log.warn('event dropped: the API server cannot be reached', { ...about(event), tries, error });
          return;
        }
        log.v(2, 'event not sent yet', { ...about(event), tries, error });
      }
      // Anywhere in the first wait.
      await clock.sleep(tries === 1 ? jitter(1, RETRY_MS - 1, random) : RETRY_MS, signal);
    }
  }
}

function about({ involvedObject, reason }: KubeEvent): LogFields {
  const { kind, namespace, name } = involvedObject;
  return { object: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`, reason };
}
