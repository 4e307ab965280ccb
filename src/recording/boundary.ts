import type { Observable } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { ReconcileRecord } from '../ports/pod-plan.ts';

/** Changes an answer on its way into a recording: hides what is secret in it. */
export type Hide = (answer: unknown, args: readonly unknown[]) => unknown;

/**
 * The line around the agent's own decisions: all that crosses it inwards is an input, and inputs come one at a time, each once all has been
 * done that follows from the one before. Time stands still in between. So the same inputs lead to the same decisions.
 *
 * While recording, what lies outside is real; in a replay there is nothing outside, and `outside` functions are never called.
 */
export interface Boundary {
  /** Inside: stands still between inputs, and its timers are inputs. */
  readonly clock: Clock;
  /** Inside: the same numbers each time. */
  readonly random: () => number;
  /** The number of a port that was handed in, for its name. */
  nextId(): number;
  /** Asks outside; the answer, or the error, is an input. Functions among the arguments may be called from outside, which is one, too. */
  ask<T>(name: string, args: readonly unknown[], outside: (args: readonly unknown[]) => Promise<T>, how?: Asking): Promise<T>;
  /** Looks outside, without waiting. */
  read<T>(name: string, args: readonly unknown[], outside: () => T): T;
  /** Tells outside, which says nothing. */
  tell(outside: () => void): void;
  /** Follows a stream from outside: each value is an input. */
  follow<T>(name: string, outside: () => Observable<T>): Observable<T>;
  /** `inside`, to be called from outside: each call is an input. */
  callable<A extends readonly unknown[]>(name: string, inside: (...args: A) => void): (...args: A) => void;
  /** `inside`, to be followed from outside: that somebody begins to, or ends, is an input. */
  followable<T>(name: string, inside: Observable<T>): Observable<T>;
  decided(record: ReconcileRecord): void;
}

export interface Asking {
  readonly hide?: Hide | undefined;
  /** What is written of the answer where it is a port: nothing but whether there is one. */
  readonly isPort?: boolean;
}

/** What a call is about, for people and to tell calls apart: texts, numbers, and the names of objects. */
export function argumentText(args: readonly unknown[]): string {
  return args.flatMap(shortText).join(', ');
}

function shortText(arg: unknown): readonly string[] {
  if (typeof arg === 'string' || typeof arg === 'number' || typeof arg === 'boolean') return [String(arg)];
  if (typeof arg !== 'object' || arg === null || arg instanceof AbortSignal || arg instanceof Map || Array.isArray(arg)) return [];
  const fields = arg as Readonly<Record<string, unknown>>;
  const { metadata, kind, namespace, name, attempt, container } = fields;
  if (typeof metadata === 'object' && metadata !== null) {
    const of = metadata as Readonly<Record<string, unknown>>;
    return [`${String(of['namespace'])}/${String(of['name'])}/${String(of['uid'])}`];
  }
  if (typeof name === 'string') return [[kind, namespace, name].filter((part) => typeof part === 'string').join('/')];
  if (typeof attempt === 'number') return [...shortText(container), `attempt ${attempt}`];
  return [];
}
