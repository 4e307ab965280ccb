import type { Clock } from '../../../base/clock.ts';
import { type JsonObject } from '../../../base/json-object.ts';
import { unlessAborted } from '../../../base/unless-aborted.ts';

/** GET /info and GET /version. */
export type SelfQuestion = 'info' | 'version';

/** What an engine has said of itself, for one to which that is much work. */
export class SelfDescription {
  readonly #ask: (question: SelfQuestion) => Promise<JsonObject>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #said = new Map<SelfQuestion, { readonly answer: Promise<JsonObject>; readonly atMs: number }>();

  constructor(ask: (question: SelfQuestion) => Promise<JsonObject>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /** At most `freshMs` old. One question for all who ask meanwhile: none of them aborts it. A failure is not remembered. */
  get(question: SelfQuestion, freshMs: number, signal: AbortSignal): Promise<JsonObject> {
    const atMs = this.#clock.monotonicMs();
    const last = this.#said.get(question);
    if (last !== undefined && atMs - last.atMs < freshMs) return unlessAborted(last.answer, signal);
    const answer = this.#ask(question);
    this.#said.set(question, { answer, atMs });
    answer.catch(() => {
      if (this.#said.get(question)?.answer === answer) this.#said.delete(question);
    });
    return unlessAborted(answer, signal);
  }
}
