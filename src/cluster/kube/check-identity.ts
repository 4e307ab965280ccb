import { createPrivateKey, X509Certificate } from 'node:crypto';
import { errorText } from '../../base/error-text.ts';
import { formatTime } from '../../model/time.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** Throws KubeconfigError unless the certificate can be read, is in force and goes with the key. `what` begins the sentence. */
export function checkIdentity({ certificatePem, keyPem }: PemPair, what: string, nowMs: number): void {
  const parsed = explained(`${what} cannot be read`, () => new X509Certificate(certificatePem));
  const key = explained(`${what}: its key cannot be read`, () => createPrivateKey(keyPem));
  if (!parsed.checkPrivateKey(key)) throw new KubeconfigError('malformed', `${what}: the client key belongs to another certificate`);
  const endMs = parsed.validToDate.getTime();
  if (endMs <= nowMs) throw new KubeconfigError('expired', `${what} expired at ${formatTime(endMs)}`);
}

function explained<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new KubeconfigError('malformed', `${what}: ${errorText(cause)}`, { cause });
  }
}
