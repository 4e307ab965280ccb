import { errorText } from '../base/error-text.ts';
import { formatTime } from '../model/time.ts';
import { nodeSubject } from './certificate-request.ts';
import type { CertificateStore } from './certificate-store.ts';
import { ClientCertificateError } from './client-identity.ts';
import { CertificateRefusedError, type CsrClients } from './csr-client.ts';
import { kubeconfigIdentity, type KubeconfigContext, kubeconfigText, writeKubeconfig } from './kubeconfig.ts';
import { obtainCertificate, type ObtainCertificateDeps } from './obtain-certificate.ts';
import { expiryOf, renewalDelayMs } from './rotation-decision.ts';

export interface BootstrapDeps extends ObtainCertificateDeps {
  readonly store: CertificateStore;
  /** --kubeconfig: read to see whether it still serves, written when it does not. */
  readonly kubeconfigPath: string;
  /** --bootstrap-kubeconfig */
  readonly bootstrapKubeconfigPath: string;
  /** The current context of a kubeconfig; undefined when there is no such file. Rejects with what is wrong with it. */
  readonly readKubeconfig: (path: string) => Promise<KubeconfigContext | undefined>;
  /** Clients with the credentials of --bootstrap-kubeconfig. */
  readonly connect: () => Promise<CsrClients>;
  readonly random: () => number;
}

/** Why the kubeconfig cannot be used, and a client certificate has to be asked for; undefined when all is well. */
export async function bootstrapReason(
  deps: Pick<BootstrapDeps, 'kubeconfigPath' | 'readKubeconfig' | 'clock'>,
): Promise<string | undefined> {
  const { kubeconfigPath, readKubeconfig, clock } = deps;
  try {
    const context = await readKubeconfig(kubeconfigPath);
    if (context === undefined) return `${kubeconfigPath} does not exist`;
    const identity = await kubeconfigIdentity(context, kubeconfigPath);
    if (identity === undefined) return `the user of ${kubeconfigPath} has no client certificate`;
    if (expiryOf(identity, clock.now()) !== 'expired') return undefined;
    return `the client certificate of ${kubeconfigPath} expired at ${formatTime(identity.notAfterMs)}`;
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
  const { kubeconfigPath, bootstrapKubeconfigPath, readKubeconfig, store, log } = deps;
  const reason = await bootstrapReason(deps);
  if (reason === undefined) {
    log.v(2, 'the kubeconfig serves, no bootstrap is needed', { kubeconfig: kubeconfigPath });
    return;
  }
  const context = await readKubeconfig(bootstrapKubeconfigPath);
  if (context === undefined) {
    throw new ClientCertificateError(`${reason}, and the bootstrap kubeconfig ${bootstrapKubeconfigPath} does not exist`);
  }
  log.info('bootstrapping: asking for a client certificate', { because: reason, credentials: bootstrapKubeconfigPath });
  await askUntilAnswered(deps, signal);
  await writeKubeconfig(kubeconfigPath, kubeconfigText(context, store.currentPath));
  log.info('kubeconfig written', { kubeconfig: kubeconfigPath, certificate: store.currentPath });
}

async function askUntilAnswered(deps: BootstrapDeps, signal: AbortSignal): Promise<void> {
  const { bootstrapKubeconfigPath, connect, clock, log, random } = deps;
  for (let failures = 1; ; failures++) {
    const clients = await connect();
    try {
      await obtainCertificate(deps, clients, signal);
      return;
    } catch (error) {
      if (signal.aborted || error instanceof ClientCertificateError) throw error;
      if (error instanceof CertificateRefusedError && error.refused === 'credentials') {
        // A token lives for a day, and a certificate for a year.
        if (await hasUsableCertificate(deps)) {
          log.warn('the bootstrap credentials are refused; going on with the certificate that is there', { error });
          return;
        }
        throw new CertificateRefusedError('credentials', `the credentials of ${bootstrapKubeconfigPath} are refused`, { cause: error });
      }
      const retryInMs = renewalDelayMs(error, failures, random);
      log.warn('no client certificate yet', { error, retryInMs });
      await clock.sleep(retryInMs, signal);
    } finally {
      clients.api.closeConnections();
    }
  }
}

async function hasUsableCertificate({ store, nodeName, clock }: BootstrapDeps): Promise<boolean> {
  const identity = await store.current().catch(() => undefined);
  if (identity === undefined || expiryOf(identity, clock.now()) === 'expired') return false;
  return identity.commonName === nodeSubject(nodeName).commonName;
}
