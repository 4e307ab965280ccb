import { skip } from 'rxjs';
import { chance } from './base/chance.ts';
import type { Clock } from './base/clock.ts';
import { withDeadline } from './base/with-deadline.ts';
import { drainInto } from './base/drain-into.ts';
import type { Logger } from './base/logger.ts';
import type { Service } from './base/service.ts';
import { bootstrap } from './certificates/bootstrap.ts';
import { CertificateRotation } from './certificates/certificate-rotation.ts';
import { CertificateStore } from './certificates/certificate-store.ts';
import { findIdentity } from './certificates/find-identity.ts';
import { rotatingCredentials } from './certificates/rotating-credentials.ts';
import { checkAccess, explainNodeName } from './kube/check-access.ts';
import type { ClusterAccess, CredentialSource, TlsIdentity } from './kube/cluster-access.ts';
import type { OwnedKubeClients } from './kube/kube-clients.ts';
import { loadKubeconfig } from './kube/load-kubeconfig.ts';
import { ApiUnreachableError } from './model/api-error.ts';
import type { KubeletOptions } from './options/kubelet-options.ts';

export interface ClusterCredentialsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly open: (access: ClusterAccess) => OwnedKubeClients;
}

export interface ClusterCredentials {
  readonly clients: OwnedKubeClients;
  /** Gets, checks and renews the agent's client certificate. Until it has one, requests wait. Rejects when the kubeconfig cannot work. */
  readonly service: Service;
}

/**
 * Who the agent is to the API server, by --kubeconfig and --bootstrap-kubeconfig. What can be told wrong from the files alone rejects at
 * once; whatever needs the API server happens in the service, so that static pods do not wait for it.
 */
export async function clusterCredentials(
  options: KubeletOptions,
  { clock, log, open }: ClusterCredentialsDeps,
): Promise<ClusterCredentials> {
  const { kubeconfig, bootstrapKubeconfig, nodeName, rotateCertificates } = options;
  const load = (file: string): Promise<ClusterAccess> => loadKubeconfig(file, { clock, log });
  const store = new CertificateStore(options.certDir, clock);
  const kubeconfigPair = async (): Promise<TlsIdentity | undefined> =>
    withDeadline(
      clock,
      READ_TIMEOUT_MS,
      `reading the credentials of ${kubeconfig}`,
      new AbortController().signal,
      async (signal) => (await (await load(kubeconfig)).credentials.current(signal)).identity,
    );
  const bootstrapClients = async () => {
    const cluster = await load(bootstrapKubeconfig);
    const { main, informer } = open(cluster);
    return { api: main, informer, cluster };
  };

  const ready = Promise.withResolvers<CredentialSource>();
  // Nobody may be waiting yet when the service fails; it is the service that tells.
  ready.promise.catch(() => {});
  let settled: CredentialSource | undefined;
  const access = await accessBeforeCertificate(kubeconfig, bootstrapKubeconfig, load);
  const clients = open({
    ...access,
    credentials: { current: async (signal) => (await ready.promise).current(signal), refused: () => settled?.refused() ?? false },
  });

  const run = async (signal: AbortSignal): Promise<void> => {
    if (bootstrapKubeconfig !== '') {
      const deps = {
        store,
        nodeName,
        clock,
        log,
        random: chance,
        kubeconfigPath: kubeconfig,
        bootstrapKubeconfigPath: bootstrapKubeconfig,
      };
      await bootstrap({ ...deps, kubeconfigPair, bootstrapClients }, signal);
    }
    const given = (await load(kubeconfig)).credentials;
    const rotation = new CertificateRotation({
      find: () => findIdentity({ ...(rotateCertificates ? { store } : {}), kubeconfigPair, kubeconfigPath: kubeconfig, clock, log }),
      ...(rotateCertificates
        ? {
            renewal: {
              store,
              nodeName,
              own: () => ({ api: clients.main, informer: clients.informer }),
              ...(bootstrapKubeconfig === '' ? {} : { bootstrap: bootstrapClients }),
            },
          }
        : {}),
      clock,
      log,
      random: chance,
    });
    await rotation.load();
    // Files of a kubeconfig that somebody else renews are read afresh by its own credentials.
    settled = rotateCertificates ? rotatingCredentials(rotation, given) : given;
    // Asked before anybody else may: who is refused hears of it once.
    await check(settled, signal);
    ready.resolve(settled);
    const { identity } = await settled.current(signal);
    const fault = identity && explainNodeName(identity, nodeName);
    if (fault !== undefined) log.error('this node cannot register under its name', { error: new Error(`${access.origin}: ${fault}`) });
    const handOver = (): void => void clients.refreshCredentials(signal).catch(() => {});
    await Promise.all([rotation.run(signal), drainInto(rotation.identities.pipe(skip(1)), handOver, signal)]);
  };

  /** A kubeconfig that cannot work ends the agent; an API server that does not answer may come back. */
  const check = async (credentials: CredentialSource, signal: AbortSignal): Promise<void> => {
    const probe = open({ ...access, credentials });
    try {
      await checkAccess({ api: probe.heartbeat, access, nodeName, clock }, signal);
      log.info('joined the cluster', { server: access.server, by: access.origin });
    } catch (error) {
      if (!(error instanceof ApiUnreachableError)) throw error;
      log.warn('the API server cannot be reached; static pods run, and the rest follows when it answers', { error });
    } finally {
      await probe.close();
    }
  };

  return {
    clients,
    service: {
      name: 'client certificate',
      run: async (signal) => {
        try {
          await run(signal);
        } catch (error) {
          ready.reject(error);
          if (!signal.aborted) throw error;
        } finally {
          await clients.close();
        }
      },
    },
  };
}

/** Exec plugins included. */
const READ_TIMEOUT_MS = 30_000;

/** Before a certificate was asked for there may be no kubeconfig yet: then the bootstrap kubeconfig names the server. */
async function accessBeforeCertificate(
  kubeconfig: string,
  bootstrapKubeconfig: string,
  load: (file: string) => Promise<ClusterAccess>,
): Promise<ClusterAccess> {
  if (bootstrapKubeconfig === '') return load(kubeconfig);
  try {
    return await load(kubeconfig);
  } catch {
    // Whatever is wrong with it, the bootstrap writes another one.
    return load(bootstrapKubeconfig);
  }
}
