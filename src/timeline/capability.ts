import { join } from 'node:path';
import { aborted } from '../base/aborted.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { TIMELINE_DIRECTORY } from './ring-segments.ts';
import { TimelineRing } from './timeline-ring.ts';
import { timelineRoutes } from './timeline-routes.ts';

const MIB = 1024 ** 2;

/** What has happened in the agent, to be read by people and tools, also after a restart. */
export function capability({ options, entries, clock, log }: NodeParts): Contribution {
  const { rootDir, timelineMaxMib } = options;
  if (timelineMaxMib === 0) return { routes: timelineRoutes({ entries, clock, ring: undefined }) };
  const ring = new TimelineRing({ directory: join(rootDir, TIMELINE_DIRECTORY), maxBytes: timelineMaxMib * MIB, clock, log });
  return {
    routes: timelineRoutes({ entries, clock, ring }),
    services: [
      {
        name: 'timeline',
        // Until all others have stopped.
        stage: 'credentials',
        run: async (signal) => {
          for (const entry of entries.tail()) ring.add(entry);
          const kept = entries.all.subscribe((entry) => ring.add(entry));
          await aborted(signal);
          kept.unsubscribe();
          await ring.close();
        },
      },
    ],
  };
}
