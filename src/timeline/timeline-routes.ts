import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { StreamEntry } from '../model/stream-entry.ts';
import { beginStream, writeTo } from '../ports/answer.ts';
import { HttpError, type Route } from '../ports/route.ts';
import type { StreamEntries } from '../ports/stream-entries.ts';
import { FollowedEntries } from './followed-entries.ts';
import { isWanted, type TimelineQuery, timelineQuery } from './timeline-query.ts';

export interface TimelineRoutesDeps {
  readonly entries: StreamEntries;
  /** Undefined: nothing is kept on disk. */
  readonly ring: KeptEntries | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export interface KeptEntries {
  readonly directory: string;
  /** The number of the last entry that is on the disk; undefined: it is from before this agent. */
  readonly writtenSeq: number | undefined;
  /** Resolves when what has happened so far is on the disk, or lost. */
  flush(): Promise<void>;
}

/** At a time: one that does not read holds half a megabyte. */
export const MOST_READERS = 100;
/** Of one write. */
const MOST_TOGETHER = 100;

/** GET /rxlet/v1/timeline: what has happened, and with follow what happens, an entry a line, oldest first. */
export function timelineRoutes({ entries, ring, clock }: TimelineRoutesDeps): readonly Route[] {
  let readers = 0;
  return [
    {
      methods: ['GET'],
      path: '/rxlet/v1/timeline',
      debugging: true,
      page: 'data',
      handle: async ({ query, signal }, response) => {
        const wanted = timelineQuery(query, clock.now());
        if (readers >= MOST_READERS)
          throw new HttpError(429, `${readers} readers follow or read the timeline already: end one, or try again`);
        readers++;
        // Before what has happened is read: nothing falls between the two.
        const news = wanted.follow ? new FollowedEntries(entries.all, (entry) => isWanted(entry, wanted)) : undefined;
        try {
          const lastSeq = await writePast(response, { entries, ring }, wanted, clock.now(), signal);
          if (news === undefined || lastSeq === undefined) return;
          for (;;) {
            const { entries: come, lost } = await news.next(signal);
            const last = come.at(-1);
            const all = lost > 0 && last ? [...come, lossOf(last, lost)] : come;
            const unseen = all.filter(({ seq }) => seq > lastSeq);
            if (!(await writeEntries(response, unseen, signal))) return;
          }
        } catch (error) {
          // A follower is only ever ended by its own end, or that of the agent.
          if (!signal.aborted) throw error;
        } finally {
          readers--;
          news?.close();
        }
      },
    },
  ];
}

/** Writes what has happened: what is on disk, and then what is only in memory. Resolves with the number of the last entry; undefined: the reader has gone. */
async function writePast(
  response: ServerResponse,
  { entries, ring }: Pick<TimelineRoutesDeps, 'entries' | 'ring'>,
  wanted: TimelineQuery,
  nowMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  await ring?.flush();
  const tail = entries.tail();
  const after = (seq: number): readonly StreamEntry[] =>
    newest(
      tail.filter((entry) => entry.seq > seq && isWanted(entry, wanted)),
      wanted.limit,
    );
  const written = ring?.writtenSeq ?? (tail[0] === undefined ? Number.POSITIVE_INFINITY : tail[0].seq - 1);
  let inMemory = after(ring === undefined ? 0 : written);
  if (ring !== undefined) {
    // Seldom asked for: loaded then.
    const { readRing } = await import('./read-ring.ts');
    const limit = wanted.limit === undefined ? undefined : wanted.limit - inMemory.length;
    let isBegun = false;
    try {
      for await (const lines of readRing(ring.directory, { ...wanted, limit }, written)) {
        if (!response.headersSent) beginStream(response, NDJSON);
        const text = lines.map((line) => `${line}\n`).join('');
        isBegun ||= text !== '';
        if (text !== '' && !(await writeTo(response, Buffer.from(text), signal))) return undefined;
      }
    } catch (error) {
      if (signal.aborted) throw error;
      inMemory = isBegun ? inMemory : after(0);
      inMemory = [unreadable(ring.directory, error, inMemory[0] ?? { seq: (tail.at(-1)?.seq ?? 0) + 1, atMs: nowMs }), ...inMemory];
    }
  }
  if (!response.headersSent) beginStream(response, NDJSON);
  if (!(await writeEntries(response, inMemory, signal))) return undefined;
  return tail.at(-1)?.seq ?? 0;
}

const NDJSON = 'application/x-ndjson';

const newest = (entries: readonly StreamEntry[], limit: number | undefined): readonly StreamEntry[] =>
  limit === undefined ? entries : entries.slice(Math.max(0, entries.length - limit));

/** False: the reader has gone. */
async function writeEntries(response: ServerResponse, entries: readonly StreamEntry[], signal: AbortSignal): Promise<boolean> {
  for (let at = 0; at < entries.length; at += MOST_TOGETHER) {
    const lines = entries.slice(at, at + MOST_TOGETHER).map((entry) => `${JSON.stringify(entry)}\n`);
    if (!(await writeTo(response, Buffer.from(lines.join('')), signal))) return false;
  }
  return true;
}

/** In place of what is on the disk. */
const unreadable = (directory: string, error: unknown, { seq, atMs }: Pick<StreamEntry, 'seq' | 'atMs'>): StreamEntry => ({
  seq: seq - 1,
  atMs,
  stream: 'timeline',
  level: 'warning',
  message: 'entries left out: the timeline on disk cannot be read',
  fields: { directory, error: errorText(error) },
});

/** In place of what did not find room. */
const lossOf = ({ seq, atMs }: StreamEntry, lost: number): StreamEntry => ({
  seq: seq + lost,
  atMs,
  stream: 'timeline',
  level: 'warning',
  message: 'entries left out: they came faster than they were read',
  fields: { lost },
});
