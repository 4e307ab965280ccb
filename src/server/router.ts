import type { ClosedPaths } from './closed-paths.ts';
import type { Route } from '../ports/route.ts';

export interface FoundRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** An answer that no route gives. */
export interface NoRoute {
  readonly status: 404 | 405;
  readonly message: string;
  /** Methods, for 405. */
  readonly allow?: string;
}

export interface RouterOptions {
  /** False: routes that are for debugging are not there. */
  readonly debugging: boolean;
  readonly closed?: ClosedPaths;
}

type Segment = { readonly literal: string } | { readonly name: string } | { readonly rest: string };

interface Entry {
  readonly route: Route;
  readonly segments: readonly Segment[];
}

/** Finds the route of a path: the most specific one first, a trailing slash making no difference. */
export class Router {
  readonly #entries: readonly Entry[];
  readonly #roots: ReadonlySet<string>;
  readonly #closed: ClosedPaths;

  constructor(routes: readonly Route[], { debugging, closed = [] }: RouterOptions) {
    this.#closed = closed;
    const served = debugging ? routes : routes.filter((route) => route.debugging !== true);
    this.#entries = served
      .map((route) => ({ route, segments: segmentsOf(route.path) }))
      .toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
    this.#roots = new Set(served.map(({ path }) => rootOf(path)));
  }

  /** `path` is decoded and plain. */
  find(method: string, path: string): FoundRoute | NoRoute {
    const closed = this.#closed.find(([root]) => path === root || path.startsWith(`${root}/`));
    if (closed !== undefined) return { status: 405, message: closed[1] };
    const steps = path.replace(/\/$/, '').split('/').slice(1);
    const allowed = new Set<string>();
    for (const { route, segments } of this.#entries) {
      const params = match(segments, steps);
      if (params === undefined) continue;
      if (isAnswered(route, method)) return { route, params };
      for (const each of route.methods) allowed.add(each);
    }
    // Words of go-restful, and of net/http for what has no handler at all.
    if (allowed.size > 0) return { status: 405, message: '405: Method Not Allowed', allow: [...allowed].join(', ') };
    return { status: 404, message: this.#roots.has(rootOf(path)) ? '404: Page Not Found' : '404 page not found\n' };
  }
}

/** HEAD is GET without the body; but not where GET starts something. */
function isAnswered({ methods, debugging, page }: Route, method: string): boolean {
  const isPlain = debugging !== true || page === 'home' || page === 'file';
  return methods.some((each) => each === method) || (method === 'HEAD' && isPlain && methods.includes('GET'));
}

function segmentsOf(template: string): readonly Segment[] {
  return template
    .replace(/\/$/, '')
    .split('/')
    .slice(1)
    .map((text) => {
      const name = /^\{(\w+)(\*?)\}$/.exec(text);
      if (name === null) return { literal: text };
      return name[2] === '*' ? { rest: name[1] ?? '' } : { name: name[1] ?? '' };
    });
}

/** Sorts literals before names before rests, and what ends before what goes on. */
const rank = ({ segments }: Entry): string => segments.map((each) => ('literal' in each ? '0' : 'name' in each ? '1' : '2')).join('');

function match(segments: readonly Segment[], steps: readonly string[]): Readonly<Record<string, string>> | undefined {
  const params: [string, string][] = [];
  for (const [index, segment] of segments.entries()) {
    if ('rest' in segment) return Object.fromEntries([...params, [segment.rest, steps.slice(index).join('/')]]);
    const step = steps[index];
    if (step === undefined || step === '') return undefined;
    if ('name' in segment) params.push([segment.name, step]);
    else if (segment.literal !== step) return undefined;
  }
  return steps.length === segments.length ? Object.fromEntries(params) : undefined;
}

const rootOf = (path: string): string => path.split('/')[1] ?? '';
