import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { timelineRoutes } from './timeline-routes.ts';

/** What has happened in the agent, to be read by people and tools. */
export function capability({ entries, clock }: NodeParts): Contribution {
  return { routes: timelineRoutes({ entries, clock }) };
}
