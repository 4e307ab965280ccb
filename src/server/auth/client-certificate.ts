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

export interface CertificateCheck {
  /** The authorities that are trusted now. */
  readonly bundle: ClientCaBundle;
  /** Whether the handshake was made with these, and not with earlier ones. */
  readonly isCurrent: boolean;
  readonly nowMs: number;
}

/**
 * Who the client's certificate says it is: common name and organizations (apiserver authentication/request/x509 CommonNameUserConversion).
 * Undefined without a certificate, or with one without a name. Throws when the certificate is not to be believed, now: it may have expired
 * since the handshake, or its CA may be trusted no more.
 */
export function clientCertificateUser(
  connection: CertifiedConnection,
  { bundle, isCurrent, nowMs }: CertificateCheck,
): UserInfo | undefined {
  const certificate = connection.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const serial = `client certificate ${certificate.serialNumber}`;
  if (!connection.authorized) throw new Error(`${serial}: ${String(connection.authorizationError ?? 'not verified')}`);
  if (nowMs > certificate.validToDate.getTime()) throw new Error(`${serial} has expired`);
  if (nowMs < certificate.validFromDate.getTime()) throw new Error(`${serial} is not yet valid`);
  if (!isCurrent && !isSignedBy(bundle, certificate)) {
    throw new Error(`${serial}: the certificate authorities have changed since the connection was made`);
  }
  const { CN, O } = certificate.toLegacyObject().subject;
  const name = many(CN).at(-1);
  return name === undefined || name === '' ? undefined : { name, groups: many(O) };
}

/** Without intermediate certificates: a server does not learn what of those the client has sent. */
function isSignedBy({ certificates }: ClientCaBundle, certificate: X509Certificate): boolean {
  return certificates.some((trusted) => certificate.checkIssued(trusted) && certificate.verify(trusted.publicKey));
}

function many(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
