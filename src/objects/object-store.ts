import type { Clock } from '../base/clock.ts';
import type { Service } from '../base/service.ts';
import type { KubeClients } from '../ports/kube-api.ts';
import type { ObjectStore } from '../ports/object-store.ts';
import { CachedObjects } from './cached-objects.ts';
import { WatchedObjects } from './watched-objects.ts';

/** How changes of ConfigMaps and Secrets are learnt: configMapAndSecretChangeDetectionStrategy. */
export type ChangeDetectionStrategy = 'Watch' | 'Cache' | 'Get';

export interface ObjectStoreDeps {
  readonly clients: Pick<KubeClients, 'main' | 'informer'>;
  readonly clock: Clock;
}

/** pkg/kubelet/util/manager defaultTTL. */
const CACHE_TTL_MS = 60_000;

export function objectStore(strategy: ChangeDetectionStrategy, { clients, clock }: ObjectStoreDeps): ObjectStore & Service {
  switch (strategy) {
    case 'Watch':
      return new WatchedObjects({ informer: clients.informer, clock });
    case 'Cache':
      return new CachedObjects({ api: clients.main, clock, ttlMs: CACHE_TTL_MS });
    case 'Get':
      return new CachedObjects({ api: clients.main, clock, ttlMs: 0 });
    default:
      return strategy satisfies never;
  }
}
