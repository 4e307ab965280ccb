import { type SchedulerAction, Subscription } from 'rxjs';
import { type Clock, sleepOn } from '../base/clock.ts';
import { checkedDelay } from '../base/timed-action.ts';

export interface Times {
  /** A date. */
  readonly nowMs: number;
  readonly monotonicMs: number;
}

/** Sets a real timer; undefined in a replay, where timers fire when they did. */
export type ArmTimer = (id: number, delayMs: number) => { unsubscribe(): void };

type Work = (this: SchedulerAction<unknown>, state?: unknown) => void;

/** A clock that stands still until it is set. Its timers have numbers in the order in which they were set, and run when they are told. */
export class TurnClock implements Clock {
  readonly #arm: ArmTimer | undefined;
  readonly #timers = new Map<number, () => void>();
  #times: Times;
  #lastId = 0;

  constructor(times: Times, arm?: ArmTimer) {
    this.#times = times;
    this.#arm = arm;
  }

  readonly now = (): number => this.#times.nowMs;

  readonly monotonicMs = (): number => this.#times.monotonicMs;

  readonly schedule = (work: Work, delayMs?: number, state?: unknown): Subscription =>
    new TurnAction(work, (run, delay) => this.#set(run, delay)).schedule(state, delayMs);

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => sleepOn(this, ms, signal);

  set(times: Times): void {
    this.#times = times;
  }

  /** Runs what the timer was set for, unless that was cancelled. False: no such timer was ever set. */
  fire(id: number): boolean {
    const run = this.#timers.get(id);
    this.#timers.delete(id);
    run?.();
    return id <= this.#lastId;
  }

  #set(run: () => void, delayMs: number): () => void {
    const id = ++this.#lastId;
    this.#timers.set(id, run);
    const armed = this.#arm?.(id, delayMs);
    return () => {
      this.#timers.delete(id);
      armed?.unsubscribe();
    };
  }
}

class TurnAction extends Subscription implements SchedulerAction<unknown> {
  readonly #work: Work;
  readonly #set: (run: () => void, delayMs: number) => () => void;
  #cancel: () => void = () => {};

  constructor(work: Work, set: (run: () => void, delayMs: number) => () => void) {
    super(() => this.#cancel());
    this.#work = work;
    this.#set = set;
  }

  schedule(state?: unknown, delayMs = 0): Subscription {
    if (this.closed) return this;
    this.#cancel();
    this.#cancel = this.#set(() => this.#work.call(this, state), checkedDelay(delayMs));
    return this;
  }
}
