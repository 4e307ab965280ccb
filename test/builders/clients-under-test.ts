import { systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/logger.ts';
import type { ClusterAccess } from '../../src/cluster/kube/cluster-access.ts';
import { kubeClients, type OwnedKubeClients } from '../../src/cluster/kube/kube-clients.ts';
import { loadKubeconfig } from '../../src/cluster/kube/load-kubeconfig.ts';
import { RecordedHappenings } from '../fakes/recorded-happenings.ts';

export const accessOf = (kubeconfig: string, log: Logger = silentLogger): Promise<ClusterAccess> =>
  loadKubeconfig(kubeconfig, { clock: systemClock, log });

/** Clients without limits. To be closed. */
export function clientsFor(access: ClusterAccess, log: Logger = silentLogger): OwnedKubeClients {
  const limit = { qps: 0, burst: 1 };
  const { tell } = new RecordedHappenings();
  return kubeClients({
    access,
    clock: systemClock,
    log,
    main: limit,
    events: limit,
    heartbeatTimeoutMs: 10_000,
    tell,
    userAgent: 'rxlet-test',
  });
}

export const connectAs = async (kubeconfig: string): Promise<OwnedKubeClients> => clientsFor(await accessOf(kubeconfig));
