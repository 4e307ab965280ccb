import type { Clock } from '../../base/clock.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import { errorText } from '../../base/error-text.ts';
import { formatTime } from '../../model/time.ts';
import { type KubeconfigCluster, kubeconfigText, writeKubeconfig } from './bootstrap-kubeconfig.ts';
import { nodeSubject } from './certificate-request.ts';
import type { CertificateStore } from './certificate-store.ts';
import { ClientCertificateError, parseClientIdentity } from './client-identity.ts';
import { CertificateRefusedError, type CsrClients } from './csr-client.ts';
import { clientCertificateOf, obtainCertificate, type ObtainCertificateDeps } from './obtain-certificate.ts';
import { expiryOf, renewalDelayMs } from './rotation-decision.ts';

export interface KubeconfigToCheck {
  /** --kubeconfig */
  readonly kubeconfigPath: string;
  /** The client certificate of its user; undefined for one without. Rejects with what is wrong with the file, also when it is missing. */
  readonly kubeconfigPair: () => Promise<PemPair | undefined>;
  readonly clock: Pick<Clock, 'now'>;
}

/** What --bootstrap-kubeconfig says: the server, and clients with its credentials. */
export interface BootstrapClients extends CsrClients {
  readonly cluster: KubeconfigCluster;
}

export interface BootstrapDeps extends Omit<ObtainCertificateDeps, 'wanted'>, Omit<KubeconfigToCheck, 'clock'> {
  readonly nodeName: string;
  readonly store: Pick<CertificateStore, 'current' | 'currentPath'> & ObtainCertificateDeps['store'];
  /** For messages. */
  readonly bootstrapKubeconfigPath: string;
  /** Reads --bootstrap-kubeconfig afresh. Rejects with what is wrong with it. */
  readonly bootstrapClients: () => Promise<BootstrapClients>;
  /** 0 to 1 */
  readonly random: () => number;
}

/** Why the kubeconfig cannot be used, and a client certificate has to be asked for; undefined when all is well. */
export async function bootstrapReason({ kubeconfigPath, kubeconfigPair, clock }: KubeconfigToCheck): Promise<string | undefined> {
  try {
    const pair = await kubeconfigPair();
    if (pair === undefined) return `the user of kubeconfig ${kubeconfigPath} has no client certificate`;
    const where = `kubeconfig ${kubeconfigPath}`;
    const identity = parseClientIdentity({ text: pair.certificatePem, where }, { text: pair.keyPem, where });
    if (expiryOf(identity, clock.now()) !== 'expired') return undefined;
    return `the client certificate of kubeconfig ${kubeconfigPath} expired at ${formatTime(identity.notAfterMs)}`;
  } catch (error) {
    return errorText(error);
  }
}

/**
 * Leaves behind a kubeconfig that serves: the one that is there, or a new one whose client certificate the bootstrap credentials have
 * asked for. Asks until it gets one: through outages, missing approvals and denials. Rejects, with a message for the user, when the
 * bootstrap kubeconfig is missing or malformed, when its credentials are refused, and when files cannot be written.
 */
export async function bootstrap(deps: BootstrapDeps, signal: AbortSignal): Promise<void> {
  const { kubeconfigPath, bootstrapKubeconfigPath, store, log } = deps;
  const reason = await bootstrapReason(deps);
  if (reason === undefined) {
    log.v(2, 'kubeconfig usable, no bootstrap needed', { kubeconfig: kubeconfigPath });
    return;
  }
  log.info('client certificate needed, bootstrapping', { because: reason, by: bootstrapKubeconfigPath });
  const cluster = await askUntilAnswered(deps, signal);
  await writeKubeconfig(kubeconfigPath, kubeconfigText(cluster, store.currentPath));
  log.info('kubeconfig written', { kubeconfig: kubeconfigPath, certificate: store.currentPath });
}

/** Resolves with the cluster that answered. */
async function askUntilAnswered(deps: BootstrapDeps, signal: AbortSignal): Promise<KubeconfigCluster> {
  const { bootstrapKubeconfigPath, bootstrapClients, clock, log, random } = deps;
  for (let failures = 1; ; failures++) {
    const clients = await bootstrapClients();
    let failure: unknown;
    try {
      await obtainCertificate({ ...deps, wanted: clientCertificateOf(deps.nodeName) }, clients, signal);
      return clients.cluster;
    } catch (error) {
      failure = error;
    } finally {
      clients.api.closeConnections();
    }
    if (signal.aborted || failure instanceof ClientCertificateError) throw failure;
    if (failure instanceof CertificateRefusedError && failure.refused === 'credentials') {
      // A token lives for a day, and a certificate for a year.
      if (await hasUsableCertificate(deps)) {
        log.warn('the bootstrap credentials are refused; going on with the certificate that is there', { error: failure });
        return clients.cluster;
      }
      throw new CertificateRefusedError('credentials', `bootstrap kubeconfig ${bootstrapKubeconfigPath}`, { cause: failure });
    }
    const retryInMs = renewalDelayMs(failure, failures, random);
    log.warn('no client certificate yet', { error: failure, retryInMs });
    await clock.sleep(retryInMs, signal);
  }
}

async function hasUsableCertificate({ store, nodeName, clock }: BootstrapDeps): Promise<boolean> {
  const identity = await store.current().catch(() => undefined);
  if (identity === undefined || expiryOf(identity, clock.now()) === 'expired') return false;
  return identity.commonName === nodeSubject(nodeName).commonName;
}
