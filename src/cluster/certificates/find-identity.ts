import type { Clock } from '../../base/clock.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import type { Logger } from '../../base/logger.ts';
import type { CertificateStore } from './certificate-store.ts';
import { type ClientIdentity, parseClientIdentity } from './client-identity.ts';
import { expiryOf } from './rotation-decision.ts';

export interface FindIdentityDeps {
  /** Undefined: the agent does not look into --cert-dir. */
  readonly store: Pick<CertificateStore, 'current'> | undefined;
  /** The client certificate of the kubeconfig's user, read afresh; undefined for one without. */
  readonly kubeconfigPair: () => Promise<PemPair | undefined>;
  /** For messages. */
  readonly kubeconfigPath: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/**
 * The pair to use: of --cert-dir, else of the kubeconfig; an expired one counts only for want of another. Undefined when there is
 * none; rejects when what there is cannot be read.
 */
export async function findIdentity(deps: FindIdentityDeps): Promise<ClientIdentity | undefined> {
  const { store, kubeconfigPair, kubeconfigPath, clock, log } = deps;
  const ofKubeconfig = async (): Promise<ClientIdentity | undefined> => {
    const pair = await kubeconfigPair();
    const where = `kubeconfig ${kubeconfigPath}`;
    return pair && parseClientIdentity({ text: pair.certificatePem, where }, { text: pair.keyPem, where });
  };
  let expired: ClientIdentity | undefined;
  const unreadable: unknown[] = [];
  for (const look of [async () => store?.current(), ofKubeconfig]) {
    try {
      const identity = await look();
      if (identity === undefined) continue;
      if (expiryOf(identity, clock.now()) === 'expired') {
        expired ??= identity;
        continue;
      }
      if (unreadable.length > 0) log.warn('a client certificate cannot be read; another one is used', { error: unreadable[0] });
      return identity;
    } catch (error) {
      unreadable.push(error);
    }
  }
  if (expired === undefined && unreadable.length > 0) throw unreadable[0];
  return expired;
}
