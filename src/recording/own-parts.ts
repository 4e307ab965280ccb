import type { NodeParts } from '../ports/node-parts.ts';
import type { Boundary } from './boundary.ts';

/** The agent's own parts for what lies outside: what is asked of them there comes in in its turn. */
export function ownParts(
  boundary: Boundary,
  { statuses, ends, pleg, wake }: NodeParts,
): Pick<NodeParts, 'wake' | 'ends' | 'statuses' | 'pleg'> {
  const looked =
    <A extends readonly unknown[], T>(look: (...args: A) => T) =>
    (...args: A): T => {
      let found: { readonly value: T } | undefined;
      boundary.tell(() => void (found = { value: look(...args) }));
      if (found === undefined) throw new Error('nothing lies outside');
      return found.value;
    };
  return {
    wake: boundary.callable('wake', wake),
    ends: {
      end: boundary.callable('end', (uid, end) => ends.end(uid, end)),
      startOver: boundary.callable('start over', (uid) => ends.startOver(uid)),
      of: looked((uid) => ends.of(uid)),
    },
    statuses: {
      get: (uid) => statuses.get(uid),
      changes: statuses.changes,
      before: looked((pod) => statuses.before(pod)),
      adopt: boundary.callable('adopt status', (uid, before) => statuses.adopt(uid, before)),
      amend: boundary.callable('amend status', (uid, change) => statuses.amend(uid, change)),
    },
    pleg: {
      changes: boundary.followable('pleg changes', pleg.changes),
      relists: boundary.followable('pleg relists', pleg.relists),
      recoveries: boundary.followable('pleg recoveries', pleg.recoveries),
      health: () => pleg.health(),
      missed: () => pleg.missed(),
    },
  };
}
