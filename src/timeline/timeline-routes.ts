import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { StreamEntry } from '../model/stream-entry.ts';
import { beginStream, writeTo } from '../ports/answer.ts';
import type { Route } from '../ports/route.ts';
import type { StreamEntries } from '../ports/stream-entries.ts';
import { FollowedEntries } from './followed-entries.ts';
import { isWanted, type TimelineQuery, timelineQuery } from './timeline-query.ts';

export interface TimelineRoutesDeps {
  readonly entries: StreamEntries;
  readonly clock: Pick<Clock, 'now'>;
}

/** Of one write. */
const MOST_TOGETHER = 100;

/** GET /rxlet/v1/timeline: what has happened, and with follow what happens, an entry a line, oldest first. */
export function timelineRoutes({ entries, clock }: TimelineRoutesDeps): readonly Route[] {
  return [
    {
      methods: ['GET'],
      path: '/rxlet/v1/timeline',
      debugging: true,
      handle: async ({ query, signal }, response) => {
        const wanted = timelineQuery(query, clock.now());
        // Before what has happened is read: nothing falls between the two.
        const news = wanted.follow ? new FollowedEntries(entries.all, (entry) => isWanted(entry, wanted)) : undefined;
        try {
          const past = newest(
            entries.tail().filter((entry) => isWanted(entry, wanted)),
            wanted,
          );
          beginStream(response, 'application/x-ndjson');
          if (!(await writeEntries(response, past, signal))) return;
          if (news === undefined) return;
          for (;;) {
            const { entries: come, lost } = await news.next(signal);
            const last = come.at(-1);
            const all = lost > 0 && last ? [...come, lossOf(last, lost)] : come;
            if (!(await writeEntries(response, all, signal))) return;
          }
        } catch (error) {
          // A follower is only ever ended by its own end, or that of the agent.
          if (!signal.aborted) throw error;
        } finally {
          news?.close();
        }
      },
    },
  ];
}

const newest = (entries: readonly StreamEntry[], { limit }: TimelineQuery): readonly StreamEntry[] =>
  limit === undefined ? entries : entries.slice(Math.max(0, entries.length - limit));

/** False: the reader has gone. */
async function writeEntries(response: ServerResponse, entries: readonly StreamEntry[], signal: AbortSignal): Promise<boolean> {
  for (let at = 0; at < entries.length; at += MOST_TOGETHER) {
    const lines = entries.slice(at, at + MOST_TOGETHER).map((entry) => `${JSON.stringify(entry)}\n`);
    if (!(await writeTo(response, Buffer.from(lines.join('')), signal))) return false;
  }
  return true;
}

/** In place of what did not find room. */
const lossOf = ({ seq, atMs }: StreamEntry, lost: number): StreamEntry => ({
  seq: seq + lost,
  atMs,
  stream: 'timeline',
  level: 'warning',
  message: 'entries left out: they came faster than they were read',
  fields: { lost },
});
