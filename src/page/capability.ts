import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { pageRoutes } from './page-routes.ts';

/** A page for people: which state pods are in and why, what happens, and what the node uses. It reads what other capabilities serve. */
export function capability(_node: NodeParts): Contribution {
  return { routes: pageRoutes() };
}
