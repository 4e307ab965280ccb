import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { formatTime } from '../../model/time.ts';
import { type CertificatePurpose, clientPurpose } from './certificate-purpose.ts';
import { certificateRequest, certificateRequestName, type CertificateSubject, nodeSubject } from './certificate-request.ts';
import { type CertificateStore, keyToPem } from './certificate-store.ts';
import { type ClientIdentity, parseClientIdentity } from './client-identity.ts';
import { CertificateRefusedError, type CsrClients, requestCertificate } from './csr-client.ts';

export interface ObtainCertificateDeps {
  readonly store: Pick<CertificateStore, 'pendingKey' | 'dropPendingKey' | 'update'>;
  readonly wanted: WantedCertificate;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface WantedCertificate {
  readonly subject: CertificateSubject;
  readonly purpose: CertificatePurpose;
}

/** The node as a client of the API server. */
export const clientCertificateOf = (nodeName: string): WantedCertificate => ({ subject: nodeSubject(nodeName), purpose: clientPurpose });

/**
 * Gets a new certificate for the node and makes it the current one. The key stays the same until the request has found its
 * answer, so that a restarted agent finds the request again instead of leaving a pile of them. Rejects as requestCertificate does,
 * and with ClientCertificateError when what was signed is of no use or cannot be stored.
 */
export async function obtainCertificate(deps: ObtainCertificateDeps, clients: CsrClients, signal: AbortSignal): Promise<ClientIdentity> {
  const { store, wanted, clock, log } = deps;
  const key = await store.pendingKey();
  const { subject, purpose } = wanted;
  const order = { name: certificateRequestName(subject, key, purpose.usages), requestPem: certificateRequest(subject, key), purpose };
  try {
    const certificatePem = await requestCertificate({ ...clients, clock, log }, order, signal);
    const keyPem = keyToPem(key);
    checkIssued(certificatePem, keyPem, order.name, subject.commonName, clock.now());
    const identity = await store.update(certificatePem, keyPem);
    await store.dropPendingKey();
    log.info(`${purpose.what} obtained`, { csr: order.name, expires: formatTime(identity.notAfterMs) });
    return identity;
  } catch (error) {
    // The next request needs a name, and so a key, of its own.
    if (error instanceof CertificateRefusedError && error.refused === 'request') await store.dropPendingKey();
    throw error;
  }
}

/** Throws CertificateRefusedError. */
function checkIssued(certificatePem: string, keyPem: string, csr: string, commonName: string, nowMs: number): void {
  const where = `certificate signing request ${csr}`;
  const identity = parseIssued(certificatePem, keyPem, where);
  const fault =
    identity.commonName !== commonName
      ? `for "${identity.commonName}" in place of "${commonName}"`
      : identity.notAfterMs <= nowMs
        ? `that expired at ${formatTime(identity.notAfterMs)}`
        : undefined;
  if (fault !== undefined) throw new CertificateRefusedError('request', `${where} was answered with a certificate ${fault}`);
}

function parseIssued(certificatePem: string, keyPem: string, where: string): ClientIdentity {
  try {
    return parseClientIdentity({ text: certificatePem, where }, { text: keyPem, where: 'its key' });
  } catch (cause) {
    throw new CertificateRefusedError('request', `${where} was answered with a certificate of no use`, { cause });
  }
}
