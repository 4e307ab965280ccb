import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { CertificateStore } from './certificate-store.ts';
import { ClientCertificateError, type ClientIdentity } from './client-identity.ts';
import { kubeconfigIdentity, type KubeconfigContext } from './kubeconfig.ts';
import { expiryOf } from './rotation-decision.ts';

export interface FindIdentityDeps {
  /** Absent: --cert-dir is none of the agent's business. */
  readonly store: Pick<CertificateStore, 'current'> | undefined;
  /** As read at the start: what it refers to is read afresh. */
  readonly kubeconfig: KubeconfigContext;
  readonly kubeconfigPath: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

export interface FoundIdentity {
  readonly identity: ClientIdentity;
  /** It stands in the kubeconfig itself, where nothing can replace it: --cert-dir is to get one of its own. */
  readonly embedded: boolean;
}

/**
 * The pair to use: of --cert-dir, else of the kubeconfig, where an expired one counts only for want of another. Undefined when there is
 * none at all; rejects with ClientCertificateError when what there is cannot be read.
 */
export async function findIdentity({
  store,
  kubeconfig,
  kubeconfigPath,
  clock,
  log,
}: FindIdentityDeps): Promise<FoundIdentity | undefined> {
  const embedded = Boolean(kubeconfig.user.certData);
  const places = [
    async () => ({ identity: await store?.current(), embedded: false }),
    async () => ({ identity: await kubeconfigIdentity(kubeconfig, kubeconfigPath), embedded }),
  ];
  let expired: FoundIdentity | undefined;
  let unreadable: ClientCertificateError | undefined;
  for (const look of places) {
    try {
      const { identity, embedded } = await look();
      if (identity === undefined) continue;
      if (expiryOf(identity, clock.now()) !== 'expired') {
        if (unreadable) log.warn('a client certificate cannot be read; another one is used', { error: unreadable });
        return { identity, embedded };
      }
      expired ??= { identity, embedded };
    } catch (error) {
      if (!(error instanceof ClientCertificateError)) throw error;
      unreadable ??= error;
    }
  }
  if (expired === undefined && unreadable !== undefined) throw unreadable;
  return expired;
}
