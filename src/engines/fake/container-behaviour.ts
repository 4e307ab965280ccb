import { parseGoDuration } from '../../model/go-duration.ts';
import { noHandler, type Pause, type Program, type Run, serve, type Wake } from './program.ts';

/** Followed by a container's name, and by `key=value` words: see ContainerBehaviour. */
export const BEHAVIOUR_ANNOTATION = 'fake.rxlet.dev/';

/** How an image behaves when pulled. */
export type PullBehaviour =
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'fail'; readonly message: string }
  /** The registry answers 503. */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'hang' };

/**
 * What a pod's annotation asks of a container, instead of its command:
 * `exit=1 after=5s` ends it so (`exit=1,1,0`: by attempt, the last for ever); `term=ignore` or `term=0` is what it does on SIGTERM;
 * `start=fail:words` and `create=fail:words` keep it from starting; `pull=slow:3s`, `pull=fail:words`, `pull=unavailable` and `pull=hang`
 * are its image's.
 */
export interface ContainerBehaviour {
  readonly exit?: readonly number[];
  readonly afterMs?: number;
  /** An exit code, or deaf. */
  readonly term?: number | 'ignore';
  readonly create?: string;
  readonly start?: string;
  readonly pull?: PullBehaviour;
}

const durationMs = (text: string): number => Number(parseGoDuration(text) / 1_000_000n);

function exitCode(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 255) throw new Error(`"${text}" is no exit code`);
  return Number(text);
}

function failure(text: string): string {
  const [kind, ...words] = text.split(':');
  if (kind !== 'fail') throw new Error(`"${text}" is not "fail" or "fail:words"`);
  return words.join(':') || 'it fails as its annotation says';
}

function pull(text: string): PullBehaviour {
  const [kind = '', ...rest] = text.split(':');
  const argument = rest.join(':');
  switch (kind) {
    case 'slow':
      return { kind, ms: durationMs(argument) };
    case 'fail':
      return { kind, message: failure(text) };
    case 'unavailable':
    case 'hang':
      return { kind };
    default:
      throw new Error(`"${text}" is not slow:DURATION, fail:WORDS, unavailable or hang`);
  }
}

const keys: Readonly<Record<string, (value: string) => ContainerBehaviour>> = {
  exit: (value) => ({ exit: value.split(',').map(exitCode) }),
  after: (value) => ({ afterMs: durationMs(value) }),
  term: (value) => ({ term: value === 'ignore' ? 'ignore' : exitCode(value) }),
  create: (value) => ({ create: failure(value) }),
  start: (value) => ({ start: failure(value) }),
  pull: (value) => ({ pull: pull(value) }),
};

/** Reads an annotation's value. Throws with the word that is wrong. */
export function parseBehaviour(text: string): ContainerBehaviour {
  let behaviour: ContainerBehaviour = {};
  // A value lasts until the next "key=", so that words may have spaces.
  for (const part of text.trim().split(/\s+(?=[a-z]+=)/)) {
    if (part === '') continue;
    const [key = '', ...value] = part.split('=');
    const read = keys[key];
    if (!read) throw new Error(`unknown word "${part}", known are ${Object.keys(keys).join(', ')}`);
    behaviour = { ...behaviour, ...read(value.join('=')) };
  }
  return behaviour;
}

/** Undefined when the behaviour leaves the command to decide. */
export function programOfBehaviour({ exit, afterMs, term }: ContainerBehaviour, attempt: number): Program | undefined {
  if (exit === undefined && afterMs === undefined && term === undefined) return undefined;
  const code = exit?.[Math.min(attempt, exit.length - 1)] ?? 0;
  const ms = afterMs ?? (exit === undefined ? Number.POSITIVE_INFINITY : 0);
  return {
    run: scripted({ ms, hears: term === 'ignore' ? 'nothing' : 'term' }, code, term === 'ignore' ? 0 : (term ?? 0)),
    onTerm: noHandler,
  };
}

function* scripted(pause: Pause, code: number, term: number): Run {
  if (pause.ms === Number.POSITIVE_INFINITY && pause.hears === 'term' && term === 0) return yield* serve();
  const wake: Wake = yield pause;
  return wake === 'signalled' ? term : code;
}
