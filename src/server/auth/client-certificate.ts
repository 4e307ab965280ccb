import type { X509Certificate } from 'node:crypto';
import type { ClientCaBundle } from './client-ca.ts';
import type { UserInfo } from './user-info.ts';

/** What of a TLS connection says who is at its other end. tls.TLSSocket is one. */
export interface CertifiedConnection {
  /** Whether the handshake found a path from the client's certificate to a CA, valid for clients. */
  readonly authorized: boolean;
  readonly authorizationError: Error | string | null;
  getPeerX509Certificate(): X509Certificate | undefined;
}

const LONGEST_PATH = 10;

/**
 * Who the client's certificate says it is: common name and organizations (apiserver authentication/request/x509 CommonNameUserConversion).
 * Undefined without a certificate, or with one without a name. Throws when the certificate is not to be believed, now: it may have expired
 * since the handshake, or its CA may be trusted no more.
 */
export function clientCertificateUser(connection: CertifiedConnection, bundle: ClientCaBundle, nowMs: number): UserInfo | undefined {
  const certificate = connection.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const serial = `client certificate ${certificate.serialNumber}`;
  if (!connection.authorized) throw new Error(`${serial}: ${String(connection.authorizationError ?? 'not verified')}`);
  if (nowMs > certificate.validToDate.getTime()) throw new Error(`${serial} has expired`);
  if (nowMs < certificate.validFromDate.getTime()) throw new Error(`${serial} is not yet valid`);
  if (!leadsTo(bundle, certificate)) throw new Error(`${serial}: its certificate authority is not trusted any more`);
  const { CN, O } = certificate.toLegacyObject().subject;
  const name = many(CN).at(-1);
  return name === undefined || name === '' ? undefined : { name, groups: many(O) };
}

/** By signatures; usages and lengths are what the handshake has looked at. */
function leadsTo({ certificates }: ClientCaBundle, leaf: X509Certificate): boolean {
  let at: X509Certificate | undefined = leaf;
  for (let length = 0; at !== undefined && length < LONGEST_PATH; length++) {
    const here: X509Certificate = at;
    const isSignedBy = (issuer: X509Certificate): boolean => here.checkIssued(issuer) && here.verify(issuer.publicKey);
    if (certificates.some((trusted) => trusted.fingerprint256 === here.fingerprint256 || isSignedBy(trusted))) return true;
    const { issuerCertificate } = here;
    at = issuerCertificate !== undefined && isSignedBy(issuerCertificate) ? issuerCertificate : undefined;
  }
  return false;
}

function many(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
