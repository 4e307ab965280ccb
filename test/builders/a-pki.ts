import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';
import type { PemPair } from '../../src/base/pem-pair.ts';
import { bitString, contextTag, oid, sequence, setOf, smallInteger, text } from '../../src/cluster/certificates/der.ts';
import { toPem } from '../../src/cluster/certificates/pem.ts';

const DAY_MS = 86_400_000;
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));

export type { PemPair } from '../../src/base/pem-pair.ts';

export interface IssuedFacts {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Names and addresses of a server. */
  readonly hosts?: readonly string[];
  readonly notAfterMs?: number;
}

/** A certificate authority of a test's own. */
export interface TestCa {
  readonly pem: string;
  issue(facts: IssuedFacts): PemPair;
}

export function aCa(commonName = 'test-ca', notAfterMs = Date.now() + DAY_MS): TestCa {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const issuer = name(commonName, []);
  let serial = 1;
  const certificate = (subject: Buffer, publicOf: KeyObject, endMs: number, extensions: readonly Buffer[]): string => {
    serial++;
    const body = sequence(
      contextTag(0, smallInteger(2)),
      smallInteger(serial % 128),
      ecdsaWithSha256,
      issuer,
      sequence(utcTime(Math.min(Date.now(), endMs) - DAY_MS), utcTime(endMs)),
      subject,
      createPublicKey(publicOf).export({ type: 'spki', format: 'der' }),
      contextTag(3, sequence(...extensions)),
    );
    return toPem('CERTIFICATE', sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, key))));
  };
  return {
    pem: certificate(issuer, key, notAfterMs, [extension('2.5.29.19', sequence(Buffer.of(0x01, 0x01, 0xff)))]),
    issue: ({ commonName: subject, organizations = [], hosts = [], notAfterMs: endMs = Date.now() + DAY_MS }) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      const names = extension('2.5.29.17', sequence(...hosts.map(generalName)));
      const certificatePem = certificate(
        name(subject, organizations),
        own,
        endMs,
        hosts.length === 0 ? [extension('2.5.29.19', sequence())] : [names],
      );
      return { certificatePem, keyPem: own.export({ type: 'sec1', format: 'pem' }).toString() };
    },
  };
}

function extension(id: string, content: Buffer): Buffer {
  return sequence(oid(id), Buffer.concat([Buffer.of(0x04, content.length), content]));
}

function generalName(host: string): Buffer {
  const address = isIP(host) === 4;
  const content = address ? Buffer.from(host.split('.').map(Number)) : Buffer.from(host);
  return Buffer.concat([Buffer.of(address ? 0x87 : 0x82, content.length), content]);
}

function name(commonName: string, organizations: readonly string[]): Buffer {
  const parts = [...organizations.map((organization) => ['2.5.4.10', organization] as const), ['2.5.4.3', commonName] as const];
  return sequence(...parts.map(([type, value]) => setOf(sequence(oid(type), text(value)))));
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\D/g, '').slice(2, 14);
  return Buffer.concat([Buffer.of(0x17, digits.length + 1), Buffer.from(`${digits}Z`)]);
}
