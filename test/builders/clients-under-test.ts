import type { TokenRate } from '../../src/base/token-bucket.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import type { ClusterAccess } from '../../src/cluster/kube/cluster-access.ts';
import { kubeClients, type KubeClientsOptions, type OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import { loadKubeconfig } from '../../src/cluster/kube/load-kubeconfig.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';
import { notTraced } from '../../src/ports/tracing.ts';

export const accessOf = (kubeconfig: string, log: Logger = silentLogger): Promise<ClusterAccess> =>
  loadKubeconfig(kubeconfig, { clock: systemClock, log });

/** Clients without limits and without a log unless told. To be closed. */
export function clientsFor(access: ClusterAccess, over: Partial<KubeClientsOptions> = {}): OwnedKubeClients {
  const limit = (): TokenRate => ({ qps: 0, burst: 1 });
  return kubeClients({
    access,
    clock: systemClock,
    log: silentLogger,
    main: limit,
    events: limit,
    heartbeatTimeoutMs: 10_000,
    tell: new RecordedHappenings().tell,
    tracing: notTraced,
    userAgent: 'agent/1',
    ...over,
  });
}

export const connectAs = async (kubeconfig: string): Promise<OwnedKubeClients> => clientsFor(await accessOf(kubeconfig));
