import { errorText } from '../../base/error-text.ts';
import type { Logger } from '../../base/logger.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import type { CertificateStore } from './certificate-store.ts';

export interface KeepKubeconfigPairDeps {
  readonly store: Pick<CertificateStore, 'current' | 'currentPath' | 'update'>;
  /** The client certificate of the kubeconfig's user, read afresh; undefined for one without. */
  readonly kubeconfigPair: () => Promise<PemPair | undefined>;
  readonly log: Logger;
}

/**
 * Makes the kubeconfig's own pair the first of --cert-dir where that has none yet, as the kubelet does when it renews certificates (client-go
 * certificate_manager.go, getCurrentCertificateOrBootstrap): kubeadm init looks for it there, and has the kubeconfig refer to it. What
 * cannot be read or written is logged, and found again by who uses the pair.
 */
export async function keepKubeconfigPair({ store, kubeconfigPair, log }: KeepKubeconfigPairDeps, signal: AbortSignal): Promise<void> {
  try {
    if ((await store.current()) !== undefined) return;
    const pair = await kubeconfigPair();
    if (pair === undefined) return;
    await store.update(pair.certificatePem, pair.keyPem);
    log.v(2, "the kubeconfig's client certificate is kept", { in: store.currentPath });
  } catch (error) {
    signal.throwIfAborted();
    log.warn("the kubeconfig's client certificate is not kept in --cert-dir", { error: errorText(error) });
  }
}
