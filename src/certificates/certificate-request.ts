import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bitString, contextTag, oid, sequence, setOf, smallInteger, text } from './der.ts';
import { toPem } from './pem.ts';

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** As whom a node speaks to the API server: what the node authorizer recognizes (plugin/pkg/auth/nodeidentifier). */
export function nodeSubject(nodeName: string): CertificateSubject {
  return { commonName: `system:node:${nodeName}`, organizations: ['system:nodes'] };
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** A PKCS#10 request (RFC 2986) in PEM, signed with an ECDSA key and SHA-256. Throws on other kinds of keys. */
export function certificateRequest(subject: CertificateSubject, key: KeyObject): string {
  if (key.asymmetricKeyType !== 'ec') throw new Error(`cannot sign a certificate request with a key of type ${key.asymmetricKeyType}`);
  const attribute = (type: string, value: string): Buffer => sequence(oid(type), text(value));
  const organizations = subject.organizations.map((organization) => attribute(ORGANIZATION, organization));
  const commonName = setOf(attribute(COMMON_NAME, subject.commonName));
  const name = organizations.length > 0 ? sequence(setOf(...organizations), commonName) : sequence(commonName);
  const noAttributes = contextTag(0, Buffer.alloc(0));
  const info = sequence(smallInteger(0), name, publicKeyInfo(key), noAttributes);
  const signature = sign('sha256', info, key);
  return toPem('CERTIFICATE REQUEST', sequence(info, sequence(oid(ECDSA_WITH_SHA256)), bitString(signature)));
}

/**
 * The name under which a node's request is known, the same for the same key, subject and usages: who starts again finds its request
 * again. As the kubelet names it (pkg/kubelet/certificate/bootstrap digestedName).
 */
export function certificateRequestName(subject: CertificateSubject, key: KeyObject, usages: readonly string[]): string {
  const hash = createHash('sha512-256');
  const parts = [publicKeyInfo(key), ...[subject.commonName, ...subject.organizations, ...usages].map((part) => Buffer.from(part))];
  for (const part of parts) hash.update(`${part.toString('base64url')}|`);
  return `node-csr-${hash.digest('base64url')}`;
}

function publicKeyInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}
