import { Observable, type Subscription } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { LruMap } from '../base/lru-map.ts';
import { seededRandom } from '../base/seeded-random.ts';
import type { ReconcileRecord } from '../ports/pod-plan.ts';
import { type Asking, argumentText, type Boundary } from './boundary.ts';
import { decisionText } from './decision-text.ts';
import type { HiddenValues } from './hidden-values.ts';
import type { Argument, Effect, Input, InputLine, Outcome } from './lines.ts';
import { TurnClock } from './turn-clock.ts';
import { toJsonAtAll } from './value-json.ts';

export interface RecorderDeps {
  /** The real one. */
  readonly clock: Clock;
  readonly seed: number;
  readonly hidden: HiddenValues;
  readonly write: (line: InputLine | Effect) => void;
}

/** Answers that were read and are remembered: a pod has a dozen. What is forgotten is written again. */
const MOST_READ = 50_000;

/** The boundary of an agent that is being recorded: inputs are delivered one by one, and written as they are. */
export class Recorder implements Boundary {
  readonly clock: TurnClock;
  readonly random: () => number;
  readonly #deps: RecorderDeps;
  readonly #waiting: (() => void)[] = [];
  readonly #read = new LruMap<string, string>(MOST_READ);
  #pumping = false;
  /** Code from outside runs below the agent's own. */
  #depth = 0;
  #asks = 0;
  #ports = 0;
  #streams = 0;
  #followers = 0;
  #signals = 0;
  #dateAheadMs: number;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    const { clock, seed } = deps;
    const times = { nowMs: clock.now(), monotonicMs: clock.monotonicMs() };
    this.#dateAheadMs = times.nowMs - times.monotonicMs;
    this.random = seededRandom(seed);
    this.clock = new TurnClock(times, (of, delayMs) =>
      clock.schedule(
        () =>
          this.enter(
            () => ({ in: 'timer', of }),
            () => void this.clock.fire(of),
          ),
        delayMs,
      ),
    );
  }

  /** Runs `deliver` inside once it is its turn. Nothing of `input` is made before. */
  enter(input: () => Input, deliver: () => void): void {
    this.#waiting.push(() => {
      this.#advance(input());
      deliver();
    });
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(this.#pump);
  }

  nextId(): number {
    return ++this.#ports;
  }

  ask<T>(name: string, args: readonly unknown[], outside: (args: readonly unknown[]) => Promise<T>, how: Asking = {}): Promise<T> {
    if (this.#depth > 0) return outside(args);
    const of = ++this.#asks;
    this.#deps.write({ ask: of, name, about: this.#deps.hidden.text(argumentText(args)) });
    const signals = args.filter((arg) => arg instanceof AbortSignal);
    const handed = args.map((arg, at) => this.#handed(arg, of, String(at)));
    return new Promise((resolve, reject) => {
      const answered = (answer: T): void =>
        this.enter(
          () => ({ in: 'answer', of, v: how.isPort ? answer !== undefined : this.#json(how.hide ? how.hide(answer, args) : answer) }),
          () => resolve(answer),
        );
      const failed = (error: unknown): void =>
        this.enter(
          () => ({ in: 'answer', of, ...this.#failure(error, signals) }),
          () => reject(error),
        );
      this.#outside(async () => outside(handed)).then(answered, failed);
    });
  }

  read<T>(name: string, args: readonly unknown[], outside: () => T): T {
    if (this.#depth > 0) return outside();
    const key = `${name}(${argumentText(args)})`;
    try {
      const value = this.#outside(outside);
      this.#keep(key, { v: this.#json(value) });
      return value;
    } catch (error) {
      this.#keep(key, { error: this.#json(error) });
      throw error;
    }
  }

  tell(outside: () => void): void {
    this.#outside(outside);
  }

  follow<T>(_name: string, outside: () => Observable<T>): Observable<T> {
    return new Observable((out) => {
      const of = ++this.#streams;
      return this.#outside(() =>
        outside().subscribe((value) =>
          this.enter(
            // As it is: what pods say decides what becomes of them, and must not differ from what their containers were made of.
            () => ({ in: 'value', of, v: toJsonAtAll(value) }),
            () => out.next(value),
          ),
        ),
      );
    });
  }

  callable<A extends readonly unknown[]>(name: string, inside: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      const { lines, values } = this.#arguments(name, args);
      this.enter(
        () => ({ in: 'call', name, args: lines() }),
        () => inside(...(values as A)),
      );
    };
  }

  followable<T>(name: string, inside: Observable<T>): Observable<T> {
    return new Observable((out) => {
      const of = ++this.#followers;
      let following: Subscription | undefined;
      this.enter(
        () => ({ in: 'follow', name, of }),
        () => (following = inside.subscribe((value) => this.#outside(() => out.next(value)))),
      );
      return () =>
        this.enter(
          () => ({ in: 'unfollow', name, of }),
          () => following?.unsubscribe(),
        );
    });
  }

  decided(record: ReconcileRecord): void {
    this.#deps.write({ decided: decisionText(record, this.#deps.hidden.text) });
  }

  /** One a turn of Node's event loop: by the next, all promises that follow from it have been settled. */
  readonly #pump = (): void => {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#pumping = false;
      return;
    }
    setImmediate(this.#pump);
    next();
  };

  #advance(input: Input): void {
    const { clock, write } = this.#deps;
    const times = { nowMs: clock.now(), monotonicMs: clock.monotonicMs() };
    const aheadMs = times.nowMs - times.monotonicMs;
    const isSet = aheadMs !== this.#dateAheadMs;
    this.#dateAheadMs = aheadMs;
    this.clock.set(times);
    write({ t: times.monotonicMs, ...(isSet && { d: times.nowMs }), ...input });
  }

  #outside<T>(run: () => T): T {
    this.#depth++;
    try {
      return run();
    } finally {
      this.#depth--;
    }
  }

  #keep(key: string, outcome: Outcome): void {
    const text = JSON.stringify(outcome);
    if (this.#read.get(key) === text) return;
    this.#read.set(key, text);
    this.#deps.write({ read: key, ...outcome });
  }

  #json(value: unknown): unknown {
    return toJsonAtAll(value, this.#deps.hidden.text);
  }

  #failure(error: unknown, signals: readonly AbortSignal[]): Outcome {
    return signals.some((signal) => signal.aborted && signal.reason === error) ? { reason: true } : { error: this.#json(error) };
  }

  /** An argument as it is handed out: its functions come back in as inputs. */
  #handed(arg: unknown, of: number, at: string): unknown {
    if (typeof arg === 'function') return this.#callback(arg as (...args: readonly unknown[]) => unknown, of, at);
    if (typeof arg !== 'object' || arg === null || Object.getPrototypeOf(arg) !== Object.prototype) return arg;
    const fields = Object.entries(arg);
    if (!fields.some(([, value]) => typeof value === 'function')) return arg;
    return Object.fromEntries(
      fields.map(([key, value]) => [key, typeof value === 'function' ? this.#handed(value, of, `${at}.${key}`) : value]),
    );
  }

  #callback(inside: (...args: readonly unknown[]) => unknown, of: number, at: string): (...args: readonly unknown[]) => Promise<unknown> {
    return (...args) =>
      new Promise((resolve, reject) => {
        const { lines, values } = this.#arguments(at, args);
        this.enter(
          () => ({ in: 'call', of, at, args: lines() }),
          () => void (async () => inside(...values))().then(resolve, reject),
        );
      });
  }

  #arguments(name: string, args: readonly unknown[]): { readonly lines: () => readonly Argument[]; readonly values: readonly unknown[] } {
    const all = args.map((arg): { readonly line: () => Argument; readonly value: unknown } => {
      if (arg instanceof AbortSignal) {
        const { id, signal } = this.#mirrored(arg);
        return { line: () => ({ signal: id }), value: signal };
      }
      if (typeof arg !== 'function') return { line: () => ({ v: this.#json(arg) }), value: arg };
      const call = arg as (...more: readonly unknown[]) => unknown;
      return { line: () => ({ fn: true }), value: (...more: readonly unknown[]) => this.read(`${name}~`, [], () => call(...more)) };
    });
    return { lines: () => all.map(({ line }) => line()), values: all.map(({ value }) => value) };
  }

  #mirrored(signal: AbortSignal): { readonly id: number; readonly signal: AbortSignal } {
    const of = ++this.#signals;
    const inside = new AbortController();
    const abort = (): void =>
      this.enter(
        () => ({ in: 'abort', of, reason: this.#json(signal.reason) }),
        () => inside.abort(signal.reason),
      );
    // After what brings it in.
    if (signal.aborted) queueMicrotask(abort);
    else signal.addEventListener('abort', abort, { once: true });
    return { id: of, signal: inside.signal };
  }
}
