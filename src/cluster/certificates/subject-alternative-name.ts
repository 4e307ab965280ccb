import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificateSubject } from './certificate-request.ts';
import { oid, octetString, primitive, sequence } from './der.ts';

const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';

/** Names, then addresses; empty without any. */
export const alternativeNames = ({ dnsNames, ipAddresses }: Pick<CertificateSubject, 'dnsNames' | 'ipAddresses'>): readonly string[] => [
  ...dnsNames,
  ...ipAddresses,
];

/** The extension that says for which names and addresses a certificate is good (RFC 5280, 4.2.1.6). */
export function subjectAlternativeName({ dnsNames, ipAddresses }: CertificateSubject): Buffer {
  const names = [
    ...dnsNames.map((name) => primitive(0x82, Buffer.from(name))),
    ...ipAddresses.map((address) => primitive(0x87, addressBytes(address))),
  ];
  return sequence(oid(SUBJECT_ALTERNATIVE_NAME), octetString(sequence(...names)));
}

/** What the extension of a certificate says. */
export function alternativeNamesOf(certificate: X509Certificate): Pick<CertificateSubject, 'dnsNames' | 'ipAddresses'> {
  const entries = (certificate.subjectAltName ?? '').split(', ');
  const after = (prefix: string): readonly string[] =>
    entries.filter((entry) => entry.startsWith(prefix)).map((entry) => entry.slice(prefix.length));
  return { dnsNames: after('DNS:'), ipAddresses: after('IP Address:').map(plainAddress) };
}

/** IPv6 in the form that URLs have, whatever it was written like: so that equal addresses are equal texts. */
export function plainAddress(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = plainAddress(address).split('::');
  const groups = (text: string | undefined): readonly number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail)];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => 0);
  return Buffer.from([...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 0xff]));
}
