import { skip } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import { drainInto } from '../base/drain-into.ts';
import type { Logger } from '../base/logger.ts';
import type { PemPair } from '../base/pem-pair.ts';
import type { Service } from '../base/service.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { withDeadline } from '../base/with-deadline.ts';
import { bootstrap } from './certificates/bootstrap.ts';
import { clientPurpose } from './certificates/certificate-purpose.ts';
import { nodeSubject } from './certificates/certificate-request.ts';
import { type CertificateHappenings, CertificateRotation } from './certificates/certificate-rotation.ts';
import { CertificateStore } from './certificates/certificate-store.ts';
import { findIdentity } from './certificates/find-identity.ts';
import { keepKubeconfigPair } from './certificates/keep-kubeconfig-pair.ts';
import { rotatingCredentials } from './certificates/rotating-credentials.ts';
import { checkAccess, explainNodeName } from './kube/check-access.ts';
import type { ClusterAccess } from './kube/cluster-access.ts';
import type { OwnedKubeClients } from './kube/kube-clients.ts';
import { proxyName } from './kube/proxy.ts';
import { loadKubeconfig } from './kube/load-kubeconfig.ts';
import { ApiUnreachableError } from '../model/api-error.ts';
import { fileFault, type FileFault } from '../options/file-fault.ts';
import type { KubeletOptions } from '../options/kubelet-options.ts';
import type { CredentialSource } from '../ports/api-credentials.ts';

export interface ClusterCredentialsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly tell: CertificateHappenings;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly open: (access: ClusterAccess) => OwnedKubeClients;
}

export interface ClusterCredentials {
  readonly clients: OwnedKubeClients;
  /** Gets, checks and renews the agent's client certificate. Until it has one, requests wait. Rejects when the kubeconfig cannot work. */
  readonly service: Service;
}

/**
 * Who the agent is to the API server, by --kubeconfig and --bootstrap-kubeconfig. What the files alone show to be wrong rejects at
 * once; what needs the API server happens in the service, so that static pods do not wait for it.
 */
export async function clusterCredentials(
  options: KubeletOptions,
  { clock, log, tell, random, open }: ClusterCredentialsDeps,
): Promise<ClusterCredentials> {
  const { kubeconfig, bootstrapKubeconfig, nodeName, rotateCertificates } = options;
  const load = (file: string): Promise<ClusterAccess> => loadKubeconfig(file, { clock, log });
  const store = new CertificateStore(options.certDir, clock);
  const bootstrapClients = async () => {
    const cluster = await load(bootstrapKubeconfig);
    const { main, informer } = open(cluster);
    return { api: main, informer, cluster };
  };

  const ready = Promise.withResolvers<CredentialSource>();
  // No request may be waiting yet when the service fails; the service itself reports why.
  ready.promise.catch(() => {});
  let settled: CredentialSource | undefined;
  const access = await accessBeforeCertificate(kubeconfig, bootstrapKubeconfig, load);
  const clients = open({
    ...access,
    ready: async (signal) => void (await unlessAborted(ready.promise, signal)),
    credentials: {
      current: async (signal) => (await unlessAborted(ready.promise, signal)).current(signal),
      refused: () => settled?.refused() ?? false,
    },
  });

  const run = async (signal: AbortSignal): Promise<void> => {
    const kubeconfigPair = (): Promise<PemPair | undefined> =>
      withDeadline(clock, READ_TIMEOUT_MS, `reading the credentials of ${kubeconfig}`, signal, async (within) => {
        const { credentials } = await load(kubeconfig);
        return (await credentials.current(within)).identity;
      });
    if (bootstrapKubeconfig !== '') {
      const deps = {
        store,
        nodeName,
        clock,
        log,
        random,
        kubeconfigPath: kubeconfig,
        bootstrapKubeconfigPath: bootstrapKubeconfig,
      };
      await bootstrap({ ...deps, kubeconfigPair, bootstrapClients }, signal);
    }
    if (rotateCertificates) await keepKubeconfigPair({ store, kubeconfigPair, log }, signal);
    const given = (await load(kubeconfig)).credentials;
    const rotation = new CertificateRotation({
      find: () => findIdentity({ store: rotateCertificates ? store : undefined, kubeconfigPair, kubeconfigPath: kubeconfig, clock, log }),
      renewal: rotateCertificates
        ? {
            store,
            nodeName,
            subject: () => nodeSubject(nodeName),
            own: () => ({ api: clients.main, informer: clients.informer }),
            bootstrap: bootstrapKubeconfig === '' ? undefined : bootstrapClients,
          }
        : undefined,
      purpose: clientPurpose,
      clock,
      log,
      tell,
      random,
    });
    await rotation.load();
    // Files of a kubeconfig that are renewed from outside are read again by its own credentials.
    settled = rotateCertificates ? rotatingCredentials(rotation, given) : given;
    // Before all other requests, so that a refusal is reported once.
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
      log.info('joined the cluster', { server: access.server, by: access.origin, ...(access.proxy && { proxy: proxyName(access.proxy) }) });
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

/** Why no kubeconfig says where the API server is: what rejects `clusterCredentials`. Says nothing to a server. */
export function kubeconfigFaults(
  { kubeconfig, bootstrapKubeconfig }: Pick<KubeletOptions, 'kubeconfig' | 'bootstrapKubeconfig'>,
  deps: Pick<ClusterCredentialsDeps, 'clock' | 'log'>,
): Promise<readonly FileFault[]> {
  return fileFault(bootstrapKubeconfig === '' ? 'kubeconfig' : 'bootstrapKubeconfig', () =>
    accessBeforeCertificate(kubeconfig, bootstrapKubeconfig, (file) => loadKubeconfig(file, deps)),
  );
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
    // Whatever is wrong with it, the bootstrap writes another one, without impersonation.
    return { ...(await load(bootstrapKubeconfig)), impersonation: undefined };
  }
}
