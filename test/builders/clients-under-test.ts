import { systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import type { ClusterAccess } from '../../src/kube/cluster-access.ts';
import { kubeClients, type OwnedKubeClients } from '../../src/kube/kube-clients.ts';
import { loadKubeconfig } from '../../src/kube/load-kubeconfig.ts';

export const accessOf = (kubeconfig: string, log: Logger = silentLogger): Promise<ClusterAccess> =>
  loadKubeconfig(kubeconfig, { clock: systemClock, log });

/** Clients without limits. To be closed. */
export function clientsFor(access: ClusterAccess, log: Logger = silentLogger): OwnedKubeClients {
  const limit = { qps: 0, burst: 1 };
  return kubeClients({ access, clock: systemClock, log, main: limit, events: limit, heartbeatTimeoutMs: 10_000, userAgent: 'rxlet-test' });
}

export const connectAs = async (kubeconfig: string): Promise<OwnedKubeClients> => clientsFor(await accessOf(kubeconfig));
