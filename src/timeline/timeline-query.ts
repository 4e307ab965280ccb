import { GoDurationError, parseGoDuration } from '../model/go-duration.ts';
import type { StreamEntry } from '../model/stream-entry.ts';
import { HttpError } from '../ports/route.ts';

/** What a reader of the timeline asks for. */
export interface TimelineQuery {
  /** Of one pod: "namespace/name", "name" of any namespace, or its uid. */
  readonly pod: string | undefined;
  /** Undefined: all. */
  readonly streams: ReadonlySet<string> | undefined;
  /** Dates. */
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  /** The newest so many of what has already happened; undefined: all. */
  readonly limit: number | undefined;
  readonly follow: boolean;
}

const NS_PER_MS = 1_000_000n;

/** Of `?pod=NS/NAME|UID&stream=a,b&since=10m|TIME&until=…&limit=N&follow=true`. Throws HttpError 400 with what is expected. */
export function timelineQuery(query: URLSearchParams, nowMs: number): TimelineQuery {
  const streams = query.getAll('stream').flatMap((names) => names.split(',').filter((name) => name !== ''));
  return {
    pod: query.get('pod') || undefined,
    streams: streams.length > 0 ? new Set(streams) : undefined,
    sinceMs: moment('since', query, nowMs),
    untilMs: moment('until', query, nowMs),
    limit: limitOf(query.get('limit')),
    follow: followOf(query.get('follow')),
  };
}

export function isWanted({ pod, uid, stream, atMs }: StreamEntry, wanted: TimelineQuery): boolean {
  return (
    (wanted.pod === undefined || wanted.pod === pod || wanted.pod === uid || (pod?.endsWith(`/${wanted.pod}`) ?? false)) &&
    (wanted.streams === undefined || wanted.streams.has(stream)) &&
    (wanted.sinceMs === undefined || atMs >= wanted.sinceMs) &&
    (wanted.untilMs === undefined || atMs <= wanted.untilMs)
  );
}

function moment(name: 'since' | 'until', query: URLSearchParams, nowMs: number): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{4}-\d\d-\d\dT/.test(text)) {
    const atMs = Date.parse(text);
    if (!Number.isNaN(atMs)) return atMs;
  } else {
    try {
      return nowMs - Number(parseGoDuration(text) / NS_PER_MS);
    } catch (error) {
      if (!(error instanceof GoDurationError)) throw error;
    }
  }
  throw new HttpError(400, `${name} is how long ago, such as 10m, or a time, such as 2026-01-02T15:04:05Z`);
}

function limitOf(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new HttpError(400, 'limit is a whole number');
  return Number(text);
}

function followOf(text: string | null): boolean {
  if (text === null || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1' || text === '') return true;
  throw new HttpError(400, 'follow is true or false');
}
