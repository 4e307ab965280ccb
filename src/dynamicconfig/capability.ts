import { distinctUntilChanged, interval, map, merge, type Observable, of, Subject, switchMap, timer } from 'rxjs';
import { isDeepStrictEqual } from 'node:util';
import { coalesceMap } from '../base/coalesce-map.ts';
import { drainInto } from '../base/drain-into.ts';
import { exponential } from '../base/exponential.ts';
import type { Node } from '../model/node.ts';
import type { Contribution } from '../ports/contribution.ts';
import type { NodeParts } from '../ports/node-parts.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { ConfigSync } from './config-sync.ts';
import { sourceFaults } from './config-source.ts';
import { reportConfigs } from './config-status.ts';

/** How often the kubelet looks whether the trial period is over. */
const TRIAL_CHECK_MS = 10_000;
const retryMs = exponential(1_000, 10_000);
const local = { assigned: undefined, active: undefined, lastKnownGood: undefined, error: undefined };

/** The node's configuration may be a ConfigMap, as DynamicKubeletConfig of Kubernetes up to 1.23 had it. */
export function capability(node: NodeParts): Contribution {
  const { options, clock, cluster, config } = node;
  const sync = new ConfigSync(node, new CheckpointStore(options.dynamicConfigDir), config.booted ?? local);
  const follow = async (signal: AbortSignal): Promise<void> => {
    const retries = new Subject<number>();
    let failures = 0;
    const tries = merge(configNews(cluster), retries.pipe(switchMap((ms) => timer(ms, clock)))).pipe(
      coalesceMap(async () => {
        const known = cluster.node();
        if (known === undefined || signal.aborted) return;
        if (await sync.sync(known, signal)) failures = 0;
        else retries.next(retryMs(++failures));
      }),
    );
    const trial = interval(TRIAL_CHECK_MS, clock).pipe(coalesceMap(() => sync.checkTrial()));
    await Promise.all([
      drainInto(tries, () => {}, signal),
      drainInto(trial, () => {}, signal),
      reportConfigs(node, () => sync.configs, merge(sync.changes, cluster.nodeChanges), signal),
    ]).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  };
  return { services: [{ name: 'dynamic configuration', stage: 'beside pods', run: follow }] };
}

/** Each time that the Node names another source, or what it names may have changed. */
function configNews(cluster: NodeParts['cluster']): Observable<unknown> {
  return cluster.nodeChanges.pipe(
    map((node) => node && sourceOf(node)),
    distinctUntilChanged((a, b) => isDeepStrictEqual(a, b)),
    switchMap((source) => {
      const ref = source === undefined || source === 'none' ? undefined : source.configMap;
      if (ref === undefined || sourceFaults(ref).length > 0) return of(source);
      const target = { path: `/api/v1/namespaces/${ref.namespace}/configmaps`, fieldSelector: `metadata.name=${ref.name}` };
      return merge(of(source), cluster.clients.informer(target));
    }),
  );
}

const sourceOf = ({ spec }: Node): NonNullable<Node['spec']>['configSource'] | 'none' => spec?.configSource ?? 'none';
