import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { formatTime } from '../../model/time.ts';
import { keyToPem } from './certificate-store.ts';
import type { CertificateSubject } from './certificate-request.ts';
import type { PemPair } from '../../base/pem-pair.ts';
import {
  bitString,
  contextTag,
  namedBits,
  octetString,
  oid,
  positiveInteger,
  sequence,
  setOf,
  smallInteger,
  text,
  time,
  yes,
} from './der.ts';
import { toPem } from './pem.ts';
import { subjectAlternativeName } from './subject-alternative-name.ts';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

const HOUR_MS = 3_600_000;
/** As long as the kubelet's own (client-go util/cert GenerateSelfSignedCertKey). */
const LIFE_MS = 365 * 24 * HOUR_MS;

export interface SelfSignedFacts {
  readonly subject: CertificateSubject;
  readonly nowMs: number;
  /** 16 octets of chance. */
  readonly serial: Uint8Array;
}

/** A certificate for a server that is signed by its own key, with a new key (ECDSA, P-256). Good for a year, and an hour back for clocks that are late. */
export function selfSignedCertificate({ subject, nowMs, serial }: SelfSignedFacts): PemPair {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const name = sequence(setOf(sequence(oid(COMMON_NAME), text(subject.commonName))));
  const critical = (id: string, content: Buffer): Buffer => sequence(oid(id), yes(), octetString(content));
  const extensions = sequence(
    // Digital signature, and certificate signing: it signs itself.
    critical(KEY_USAGE, namedBits(0b1000_0100, 2)),
    critical(BASIC_CONSTRAINTS, sequence(yes())),
    sequence(oid(EXTENDED_KEY_USAGE), octetString(sequence(oid(SERVER_AUTH)))),
    subjectAlternativeName(subject),
  );
  const body = sequence(
    contextTag(0, smallInteger(2)),
    positiveInteger(Buffer.concat([Buffer.of(1), serial])),
    algorithm,
    name,
    sequence(time(formatTime(nowMs - HOUR_MS)), time(formatTime(nowMs + LIFE_MS))),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    contextTag(3, extensions),
  );
  const certificatePem = toPem('CERTIFICATE', sequence(body, algorithm, bitString(sign('sha256', body, privateKey))));
  return { certificatePem, keyPem: keyToPem(privateKey) };
}
