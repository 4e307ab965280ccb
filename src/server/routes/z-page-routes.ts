import type { Clock } from '../../base/clock.ts';
import { sendText } from '../../ports/answer.ts';
import { HttpError, type Route, type RouteRequest } from '../../ports/route.ts';

export interface ZPageDeps {
  /** Undefined: /statusz is not served. */
  readonly status: StatuszDeps | undefined;
  /** Undefined: /flagz is not served. */
  readonly flags: (() => ReadonlyMap<string, string>) | undefined;
}

export interface StatuszDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** For how long this process runs. */
  readonly uptimeSeconds: () => number;
  /** "1.36.2" */
  readonly version: string;
  /** "node v24.0.0" */
  readonly runtime: string;
  readonly paths: () => readonly string[];
}

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

/** /statusz and /flagz: what runs here, and how it was started, for people (component-base/zpages). */
export function zPageRoutes({ status, flags }: ZPageDeps): readonly Route[] {
  return [
    ...(status ? [page('/statusz', () => `\nkubelet statusz\n${warning}\n${statusText(status)}`)] : []),
    ...(flags ? [page('/flagz', () => `\nkubelet flags\n${warning}\n\n${flagText(flags())}`)] : []),
  ];
}

function page(path: string, text: () => string): Route {
  return {
    methods: ['GET'],
    path,
    debugging: true,
    handle: async ({ message }: RouteRequest, response) => {
      if (!takesText(message.headers.accept ?? '')) throw new HttpError(406, 'media type not acceptable, must be: text/plain\n');
      sendText(response, text());
    },
  };
}

function statusText({ clock, uptimeSeconds, version, runtime, paths }: StatuszDeps): string {
  const seconds = Math.floor(uptimeSeconds());
  const two = (count: number): string => String(count).padStart(2, '0');
  const up = `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
  return `
Started: ${unixDate(clock.now() - seconds * 1000)}
Up: ${up}
Go version: ${runtime}
Binary version: ${version}
Paths: ${[...new Set(paths().map(rootOf))].toSorted().join(' ')}
`;
}

const flagText = (flags: ReadonlyMap<string, string>): string =>
  [...flags]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value.replaceAll('\n', ' ')}\n`)
    .join('');

const rootOf = (path: string): string => `/${path.split('/')[1] ?? ''}`;

/** Go's time.UnixDate: "Mon Jan  2 15:04:05 UTC 2006". */
function unixDate(atMs: number): string {
  const [, day, date = '', month, year, time] = /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(new Date(atMs).toUTCString()) ?? [];
  return `${day} ${month} ${date.replace(/^0/, ' ')} ${time} UTC ${year}`;
}

/** Whether text in UTF-8 is among what the client takes; one that says nothing takes anything (zpages/httputil AcceptableMediaType). */
function takesText(accept: string): boolean {
  if (accept === '') return true;
  return accept.split(',').some((each) => {
    const [type = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    const named = parameters.filter((parameter) => !parameter.startsWith('q='));
    return ['text/plain', 'text/*', '*/*', '*/plain'].includes(type) && named.every((parameter) => parameter === 'charset=utf-8');
  });
}
