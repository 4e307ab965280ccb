import { Observable, type Subscriber, type Subscription } from 'rxjs';
import { seededRandom } from '../base/seeded-random.ts';
import type { ReconcileRecord } from '../ports/pod-plan.ts';
import { argumentText, type Asking, type Boundary } from './boundary.ts';
import { decisionText } from './decision-text.ts';
import type { Argument, Effect, Header, InputLine, Outcome } from './lines.ts';
import { TurnClock } from './turn-clock.ts';
import { fromJson } from './value-json.ts';

/** An input, and what followed from it. */
export interface Turn {
  readonly input: InputLine;
  readonly effects: readonly Effect[];
}

/** Where a replay first did something else than the recording. */
export interface Difference {
  readonly turn: number;
  /** On the recorded agent's monotonic time. */
  readonly atMs: number;
  readonly what: string;
  /** Texts of decisions, of that turn on. */
  readonly recorded?: string | undefined;
  readonly replayed?: string | undefined;
}

type Func = (...args: readonly unknown[]) => unknown;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly args: readonly unknown[];
  readonly isPort: boolean;
}

/** The boundary of an agent in a replay: all that comes in comes from the recording, in its order and at its time. */
export class Player implements Boundary {
  readonly clock: TurnClock;
  readonly random: () => number;
  readonly #onDecision: (record: ReconcileRecord, text: string) => void;
  readonly #pending = new Map<number, Pending>();
  /** Arguments with functions, which may be called after the answer, too. */
  readonly #functions = new Map<number, readonly unknown[]>();
  readonly #streams = new Map<number, Subscriber<unknown>>();
  readonly #followed = new Map<number, Subscription>();
  readonly #callables = new Map<string, Func>();
  readonly #followables = new Map<string, Observable<unknown>>();
  readonly #signals = new Map<number, AbortController>();
  readonly #answers = new Map<string, Outcome>();
  #news = new Map<string, Outcome[]>();
  #expectedAsks: Extract<Effect, { ask: number }>[] = [];
  #expectedDecisions: string[] = [];
  #decidedOtherwise: string | undefined;
  #what: string | undefined;
  #recorded: string | undefined;
  #asks = 0;
  #ports = 0;
  #streamIds = 0;
  #dateAheadMs: number;
  #turn = -1;

  constructor(header: Pick<Header, 'nowMs' | 'monotonicMs' | 'seed'>, onDecision: (record: ReconcileRecord, text: string) => void) {
    const { nowMs, monotonicMs, seed } = header;
    this.#dateAheadMs = nowMs - monotonicMs;
    this.clock = new TurnClock({ nowMs, monotonicMs });
    this.random = seededRandom(seed);
    this.#onDecision = onDecision;
  }

  /** Lets the input in, and resolves once all has followed from it: with the first difference, if there is one. */
  async play({ input, effects }: Turn, start: () => void): Promise<Difference | undefined> {
    this.#turn++;
    if (input.d !== undefined) this.#dateAheadMs = input.d - input.t;
    this.clock.set({ monotonicMs: input.t, nowMs: input.t + this.#dateAheadMs });
    this.#expect(effects);
    this.#deliver(input, start);
    // By then all promises that could be settled are.
    await new Promise((resolve) => setImmediate(resolve));
    const [ask] = this.#expectedAsks;
    const [decision] = this.#expectedDecisions;
    if (ask) this.#differ(`the agent does not ask ${show(ask)}, as it did`);
    if (decision !== undefined) this.#differ('the agent does not decide what it decided', decision);
    if (this.#what === undefined) return undefined;
    const recorded = this.#recorded ?? decision;
    return { turn: this.#turn, atMs: input.t, what: this.#what, recorded, replayed: this.#decidedOtherwise };
  }

  nextId(): number {
    return ++this.#ports;
  }

  ask<T>(name: string, args: readonly unknown[], _outside: unknown, how: Asking = {}): Promise<T> {
    const ask = { ask: ++this.#asks, name, about: argumentText(args) };
    const expected = this.#expectedAsks.shift();
    if (expected?.ask !== ask.ask || expected.name !== name || expected.about !== ask.about) {
      this.#differ(`the agent asks ${show(ask)}, where it ${expected ? `asked ${show(expected)}` : 'asked nothing'}`);
      return Promise.reject(new Error('the recording has no answer to this'));
    }
    if (args.some(hasFunctions)) this.#functions.set(ask.ask, args);
    return new Promise((resolve, reject) => {
      this.#pending.set(ask.ask, { resolve: resolve as Pending['resolve'], reject, args, isPort: how.isPort ?? false });
    });
  }

  read<T>(name: string, args: readonly unknown[], _outside?: () => T): T {
    const key = `${name}(${argumentText(args)})`;
    const next = this.#news.get(key)?.shift();
    if (next) this.#answers.set(key, next);
    const known = this.#answers.get(key);
    if (known === undefined) this.#differ(`the agent looks at ${key}, where it did not`);
    if (known !== undefined && 'error' in known) throw fromJson(known.error);
    return (known !== undefined && 'v' in known ? fromJson(known.v) : undefined) as T;
  }

  tell(): void {}

  follow<T>(): Observable<T> {
    return new Observable<T>((out) => {
      const id = ++this.#streamIds;
      this.#streams.set(id, out);
      return () => void this.#streams.delete(id);
    });
  }

  callable<A extends readonly unknown[]>(name: string, inside: (...args: A) => void): (...args: A) => void {
    this.#callables.set(name, (...args) => inside(...(args as A)));
    return () => {};
  }

  followable<T>(name: string, inside: Observable<T>): Observable<T> {
    this.#followables.set(name, inside);
    return inside;
  }

  decided(record: ReconcileRecord): void {
    const text = decisionText(record, (each) => each);
    this.#onDecision(record, text);
    const expected = this.#expectedDecisions.shift();
    if (expected === text || this.#decidedOtherwise !== undefined) return;
    this.#decidedOtherwise = text;
    this.#differ('the agent decides otherwise', expected);
  }

  #differ(what: string, recorded?: string): void {
    this.#what ??= what;
    this.#recorded ??= recorded;
  }

  #expect(effects: readonly Effect[]): void {
    this.#news = new Map();
    this.#expectedAsks = effects.filter((each) => 'ask' in each);
    this.#expectedDecisions = effects.flatMap((each) => ('decided' in each ? [each.decided] : []));
    for (const each of effects) if ('read' in each) this.#news.set(each.read, [...(this.#news.get(each.read) ?? []), each]);
  }

  #deliver(input: InputLine, start: () => void): void {
    switch (input.in) {
      case 'start':
        start();
        return;
      case 'answer':
        this.#answer(input.of, input);
        return;
      case 'timer':
        if (!this.clock.fire(input.of)) this.#differ(`timer ${input.of} fires, which the agent has not set`);
        return;
      case 'value':
        this.#streams.get(input.of)?.next(fromJson(input.v));
        return;
      case 'call':
        this.#call(input);
        return;
      case 'follow': {
        const stream = this.#followables.get(input.name);
        if (stream) this.#followed.set(input.of, stream.subscribe());
        return;
      }
      case 'unfollow':
        this.#followed.get(input.of)?.unsubscribe();
        this.#followed.delete(input.of);
        return;
      case 'abort':
        this.#signals.get(input.of)?.abort(fromJson(input.reason));
        return;
    }
  }

  #answer(of: number, outcome: Outcome): void {
    const asked = this.#pending.get(of);
    this.#pending.delete(of);
    if (asked === undefined) this.#differ(`call ${of} is answered, which the agent has not made`);
    else if ('reason' in outcome)
      asked.reject(asked.args.find((arg): arg is AbortSignal => arg instanceof AbortSignal && arg.aborted)?.reason);
    else if ('error' in outcome) asked.reject(fromJson(outcome.error));
    else asked.resolve(asked.isPort ? (outcome.v === true ? {} : undefined) : fromJson(outcome.v));
  }

  #call({ name, of, at = '', args }: Extract<InputLine, { in: 'call' }>): void {
    const inside = name === undefined ? functionAt(this.#functions.get(of ?? 0), at) : this.#callables.get(name);
    if (inside === undefined) {
      this.#differ(`${name ?? `argument ${at} of call ${of}`} is called, which the agent has not given`);
      return;
    }
    void (async () => inside(...args.map((arg) => this.#argument(name ?? at, arg))))().catch(() => {});
  }

  #argument(name: string, arg: Argument): unknown {
    if ('v' in arg) return fromJson(arg.v);
    if ('fn' in arg) return () => this.read(`${name}~`, []);
    const controller = new AbortController();
    this.#signals.set(arg.signal, controller);
    return controller.signal;
  }
}

const hasFunctions = (arg: unknown): boolean =>
  typeof arg === 'function' || (typeof arg === 'object' && arg !== null && Object.values(arg).some((each) => typeof each === 'function'));

function functionAt(args: readonly unknown[] | undefined, at: string): Func | undefined {
  let found: unknown = args;
  for (const key of at.split('.')) found = (found as Readonly<Record<string, unknown>> | undefined)?.[key];
  return found as Func | undefined;
}

const show = ({ name, about }: { readonly name: string; readonly about: string }): string => `${name}(${about})`;
