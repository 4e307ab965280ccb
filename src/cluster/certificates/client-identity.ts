import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { PemPair } from '../../base/pem-pair.ts';
import type { CertificateSubject } from './certificate-request.ts';
import { alternativeNamesOf } from './subject-alternative-name.ts';
import { pemBlocks } from './pem.ts';

/** Whom a certificate names, and how long. The agent's client certificate is one, and its server's. */
export interface ClientIdentity extends CertificateSubject, PemPair {
  readonly notBeforeMs: number;
  /** The moment from which it is good for nothing. */
  readonly notAfterMs: number;
}

/** Why something cannot serve as a certificate, as a sentence that names the file. */
export class ClientCertificateError extends Error {
  override readonly name = 'ClientCertificateError';
}

export interface PemText {
  readonly text: string;
  /** For messages: a path, or "client-certificate-data of FILE". */
  readonly where: string;
}

/** Reads a certificate and its key, be they in one file (then give it twice) or in two. Throws ClientCertificateError. Expired ones are fine. */
export function parseClientIdentity(certificate: PemText, key: PemText): ClientIdentity {
  const { leaf, certificatePem } = parseCertificate(certificate);
  const { keyPem, keyObject } = parsePrivateKey(key);
  const { O, CN } = leaf.toLegacyObject().subject;
  const commonName = many(CN).join(' ');
  if (!leaf.checkPrivateKey(keyObject)) {
    throw new ClientCertificateError(
      `the private key in ${key.where} is not that of the certificate of "${commonName}" in ${certificate.where}`,
    );
  }
  return {
    commonName,
    organizations: many(O),
    ...alternativeNamesOf(leaf),
    certificatePem,
    keyPem,
    notBeforeMs: leaf.validFromDate.getTime(),
    notAfterMs: leaf.validToDate.getTime(),
  };
}

/** The first certificate of a file, and all of them as PEM. Throws ClientCertificateError. */
export function parseCertificate({ text, where }: PemText): { readonly leaf: X509Certificate; readonly certificatePem: string } {
  const certificates = pemBlocks(text).filter(({ label }) => label === 'CERTIFICATE');
  const [first] = certificates;
  if (first === undefined) throw new ClientCertificateError(`there is no certificate in ${where}`);
  const leaf = explained(`the certificate in ${where} cannot be read`, () => new X509Certificate(first.pem));
  return { leaf, certificatePem: certificates.map(({ pem }) => pem).join('') };
}

/** The first private key of a file. Throws ClientCertificateError. */
export function parsePrivateKey({ text, where }: PemText): { readonly keyPem: string; readonly keyObject: KeyObject } {
  const block = pemBlocks(text).find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (block === undefined) throw new ClientCertificateError(`there is no private key in ${where}`);
  if (block.label.startsWith('ENCRYPTED') || block.pem.includes('Proc-Type: 4,ENCRYPTED')) {
    throw new ClientCertificateError(`the private key in ${where} is encrypted; give one without a passphrase`);
  }
  return { keyPem: block.pem, keyObject: explained(`the private key in ${where} cannot be read`, () => createPrivateKey(block.pem)) };
}

function many(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function explained<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new ClientCertificateError(what, { cause });
  }
}
