import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bitString, contextTag, oid, sequence, setOf, smallInteger, text } from './der.ts';
import { alternativeNames, subjectAlternativeName } from './subject-alternative-name.ts';
import { toPem } from './pem.ts';

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Subject alternative names. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** As whom a node speaks to the API server: what the node authorizer recognizes (plugin/pkg/auth/nodeidentifier). */
export function nodeSubject(nodeName: string): CertificateSubject {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'], dnsNames: [], ipAddresses: [] };
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** A PKCS#10 request (RFC 2986) in PEM, signed with an ECDSA key and SHA-256. Throws on other kinds of keys. */
export function certificateRequest(subject: CertificateSubject, key: KeyObject): string {
  if (key.asymmetricKeyType !== 'ec') throw new Error(`cannot sign a certificate request with a key of type ${key.asymmetricKeyType}`);
  const attribute = (type: string, value: string): Buffer => sequence(oid(type), text(value));
  const organizations = subject.organizations.map((organization) => attribute(ORGANIZATION, organization));
  const commonName = setOf(attribute(COMMON_NAME, subject.commonName));
  const name = organizations.length > 0 ? sequence(setOf(...organizations), commonName) : sequence(commonName);
  const info = sequence(smallInteger(0), name, publicKeyInfo(key), contextTag(0, extensionRequest(subject)));
  const signature = sign('sha256', info, key);
  return toPem('CERTIFICATE REQUEST', sequence(info, sequence(oid(ECDSA_WITH_SHA256)), bitString(signature)));
}

/**
 * The name under which a node's request is known, the same for the same key, subject and usages: who starts again finds its request
 * again. As the kubelet names it (pkg/kubelet/certificate/bootstrap digestedName).
 */
export function certificateRequestName(subject: CertificateSubject, key: KeyObject, usages: readonly string[]): string {
  const hash = createHash('sha512-256');
  const texts = [subject.commonName, ...subject.organizations, ...alternativeNames(subject), ...usages];
  const parts = [publicKeyInfo(key), ...texts.map((part) => Buffer.from(part))];
  for (const part of parts) hash.update(`${part.toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
}

/** The attribute that asks for extensions (RFC 2985), or nothing. */
function extensionRequest(subject: CertificateSubject): Buffer {
  if (alternativeNames(subject).length === 0) return Buffer.alloc(0);
  return sequence(oid(EXTENSION_REQUEST), setOf(sequence(subjectAlternativeName(subject))));
}

function publicKeyInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}
