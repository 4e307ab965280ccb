import type { Boundary, Hide } from './boundary.ts';

/**
 * How a member of a port crosses the boundary: asked and answered later; read at once; told; followed; the same for good (`value`), or a
 * property that changes (`state`); `aside`: not used by what is replayed. Also ports that are members of ports, or come as answers.
 */
export type Kind =
  | 'ask'
  | 'read'
  | 'tell'
  | 'follow'
  | 'value'
  | 'state'
  | 'aside'
  | { readonly hides: Hide }
  | { readonly asks: Kinds }
  | { readonly gives: Kinds }
  | { readonly port: Kinds }
  | { readonly list: Kinds };

export type Kinds = Readonly<Record<string, Kind>>;
/** A kind for every member: a new one cannot be forgotten. */
export type KindsOf<T> = { readonly [K in keyof T]-?: Kind };

type Members = Readonly<Record<string, unknown>>;
type Method = (...args: readonly unknown[]) => unknown;

/** The port as it is inside. `outside` is the real one; undefined in a replay, where its answers come from the recording. */
export function boundPort<T extends object>(boundary: Boundary, name: string, kinds: KindsOf<T>, outside: T | undefined): T {
  return bound(boundary, name, kinds, outside as Members | undefined) as T;
}

/** As boundPort, for a list of them. */
export function boundPorts<T extends object>(
  boundary: Boundary,
  name: string,
  kinds: KindsOf<T>,
  outside: (() => readonly T[]) | undefined,
): readonly T[] {
  let real: readonly T[] = [];
  const count = boundary.read(`${name}.length`, [], () => {
    real = outside?.() ?? [];
    return real.length;
  });
  return Array.from({ length: count }, (_, index) => boundPort(boundary, `${name}[${index}]`, kinds, real[index]));
}

function bound(boundary: Boundary, name: string, kinds: Kinds, outside: Members | undefined): Members {
  const there = boundary.read(`${name}?`, [], () => Object.keys(kinds).filter((key) => outside?.[key] !== undefined));
  const port: Record<string, unknown> = {};
  for (const key of there) {
    const kind = kinds[key];
    if (kind !== undefined) define(boundary, port, `${name}.${key}`, key, kind, outside);
  }
  return port;
}

function define(
  boundary: Boundary,
  port: Record<string, unknown>,
  name: string,
  key: string,
  kind: Kind,
  outside: Members | undefined,
): void {
  const member = (): unknown => outside?.[key];
  const call = (args: readonly unknown[]): unknown => (member() as Method).apply(outside, [...args]);
  const promised = (args: readonly unknown[]): Promise<unknown> => call(args) as Promise<unknown>;
  if (kind === 'state') {
    Object.defineProperty(port, key, { enumerable: true, get: () => boundary.read(name, [], member) });
    return;
  }
  port[key] = ((): unknown => {
    if (kind === 'aside') return outside && (typeof member() === 'function' ? (member() as Method).bind(outside) : member());
    if (kind === 'value') return boundary.read(name, [], member);
    if (kind === 'ask') return (...args: readonly unknown[]) => boundary.ask(name, args, promised);
    if (kind === 'read') return (...args: readonly unknown[]) => boundary.read(name, args, () => call(args));
    if (kind === 'tell') return (...args: readonly unknown[]) => boundary.tell(() => void call(args));
    if (kind === 'follow') return boundary.follow(name, () => member() as never);
    if ('hides' in kind) return (...args: readonly unknown[]) => boundary.ask(name, args, promised, { hide: kind.hides });
    if ('port' in kind) return bound(boundary, name, kind.port, member() as Members | undefined);
    if ('list' in kind) return boundPorts(boundary, name, kind.list as KindsOf<Members>, outside && (() => member() as readonly Members[]));
    if ('asks' in kind)
      return async (...args: readonly unknown[]) => {
        const id = boundary.nextId();
        const answer = await boundary.ask(name, args, promised, { isPort: true });
        return answer === undefined ? undefined : bound(boundary, `${name}#${id}`, kind.asks, outside && (answer as Members));
      };
    return (...args: readonly unknown[]) => given(boundary, name, kind.gives, args, outside && (() => call(args) as Members));
  })();
}

/** A port that a call gives at once: throws where the call does. */
function given(boundary: Boundary, name: string, kinds: Kinds, args: readonly unknown[], outside: (() => Members) | undefined): Members {
  let real: Members | undefined;
  boundary.read(`${name}!`, args, () => void (real = outside?.()));
  return bound(boundary, `${name}(${nameOf(args)})`, kinds, real);
}

function nameOf(args: readonly unknown[]): string {
  return args
    .map((arg) => {
      if (typeof arg !== 'object' || arg === null || !('metadata' in arg)) return String(typeof arg === 'function' ? '' : arg);
      return String((arg.metadata as Members)['uid']);
    })
    .join(',');
}
