import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bitString, oid, sequence, setOf, smallInteger, text } from '../../src/cluster/certificates/der.ts';
import { toPem } from '../../src/cluster/certificates/pem.ts';

export const HOUR_MS = 3_600_000;

/** A key as the agent makes them. */
export const aKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

export interface CertificateFacts {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly commonName?: string;
}

/** A certificate with its key, PEM: of node "a" unless told otherwise. */
export function aClientCertificate(facts: CertificateFacts & { readonly organizations?: readonly string[]; readonly key?: KeyObject }): {
  readonly certificatePem: string;
  readonly keyPem: string;
} {
  const { commonName = 'system:node:a', organizations = ['system:nodes'], key = aKey() } = facts;
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    certificatePem: toCertificate(aName(commonName, organizations), publicKey, facts),
    keyPem: key.export({ type: 'sec1', format: 'pem' }).toString(),
  };
}

/** What a cluster's signer answers to a PKCS#10 request. With `commonName`: for another than who asked. */
export function signRequest(requestPem: string, facts: CertificateFacts): string {
  const [request = Buffer.alloc(0)] = derItems(Buffer.from(requestPem.replace(/-----[^-]+-----/g, ''), 'base64'));
  const [info = Buffer.alloc(0)] = derItems(derContent(request));
  const [, subject = Buffer.alloc(0), publicKey = Buffer.alloc(0)] = derItems(derContent(info));
  const name = facts.commonName === undefined ? subject : aName(facts.commonName, ['system:nodes']);
  return toCertificate(name, publicKey, facts);
}

const authority = aKey();
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));

/** X.509 version 1 (RFC 5280), which has no extensions. */
function toCertificate(subject: Uint8Array, publicKey: Uint8Array, { notBeforeMs, notAfterMs }: CertificateFacts): string {
  const validity = sequence(utcTime(notBeforeMs), utcTime(notAfterMs));
  const body = sequence(smallInteger(1), ecdsaWithSha256, aName('test-ca', []), validity, subject, publicKey);
  return toPem('CERTIFICATE', sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, authority))));
}

function aName(commonName: string, organizations: readonly string[]): Buffer {
  const parts = [...organizations.map((organization) => ['2.5.4.10', organization] as const), ['2.5.4.3', commonName] as const];
  return sequence(...parts.map(([type, value]) => setOf(sequence(oid(type), text(value)))));
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return Buffer.concat([Buffer.of(0x17, digits.length + 1), Buffer.from(`${digits}Z`)]);
}

/** The values that stand one after the other, each with its tag and length. */
function derItems(der: Buffer): readonly Buffer[] {
  const items: Buffer[] = [];
  for (let at = 0; at < der.length;) {
    const { start, length } = derHead(der.subarray(at));
    items.push(der.subarray(at, at + start + length));
    at += start + length;
  }
  return items;
}

function derContent(item: Buffer): Buffer {
  return item.subarray(derHead(item).start);
}

function derHead(der: Buffer): { readonly start: number; readonly length: number } {
  const first = der.readUInt8(1);
  if (first < 0x80) return { start: 2, length: first };
  const octets = first - 0x80;
  return { start: 2 + octets, length: der.readUIntBE(2, octets) };
}
