import { ignoreElements, merge, type Observable, tap } from 'rxjs';
import type { PodUpdate } from '../../model/pod-update.ts';
import { type PodSource, SomePods } from '../../ports/pod-source.ts';
import type { PodConfig } from './pod-config.ts';

/** Sources in, one ordered stream of real changes out. Cold; all sources are registered before the first one speaks. */
export function podUpdates(config: PodConfig, sources: readonly PodSource[]): Observable<PodUpdate> {
  const intakes = sources.map(({ name, snapshots }) => {
    const tell = config.channel(name);
    return snapshots.pipe(
      tap((pods) => {
        if (!(pods instanceof SomePods)) tell('SET', pods);
        else {
          if (pods.gone.length > 0) tell('REMOVE', pods.gone);
          if (pods.put.length > 0) tell('UPDATE', pods.put);
        }
      }),
      ignoreElements(),
    );
  });
  return merge(config.updates, ...intakes);
}
