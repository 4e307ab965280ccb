import { exhaustMap, merge, startWith, Subject, switchMap, take, timer } from 'rxjs';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { ConfigChanges } from './config-changes.ts';
import { configLookups } from './config-lookups.ts';
import { PathWatch } from './path-watch.ts';

/** Files that are being written are read once nothing has happened to them for so long … */
const QUIET_MS = 200;
/** … and no later than this after the first change. */
const AT_MOST_MS = 2_000;

/** The files of --config and --config-dir are watched: changes count at once where they can, and what is not valid changes nothing. */
export function capability(node: NodeParts): Contribution {
  const { options, clock, log } = node;
  const changes = new ConfigChanges(node);
  const run = async (signal: AbortSignal): Promise<void> => {
    const heard = new Subject<void>();
    const watch = new PathWatch(log, () => heard.next());
    const settled = heard.pipe(
      exhaustMap(() => {
        const quiet = heard.pipe(
          startWith(undefined),
          switchMap(() => timer(QUIET_MS, clock)),
        );
        return merge(quiet, timer(AT_MOST_MS, clock)).pipe(take(1));
      }),
    );
    const looks = settled.pipe(
      // What has changed since the start, before there was a watch.
      startWith(undefined),
      coalesceMap(async () => {
        await watch.arm(() => configLookups(options));
        if (!signal.aborted) await changes.look();
      }),
    );
    try {
      await drainInto(looks, () => {}, signal);
    } finally {
      watch.close();
    }
  };
  return { services: [{ name: 'configuration', stage: 'beside pods', run }] };
}
