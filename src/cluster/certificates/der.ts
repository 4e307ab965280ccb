/** The few ASN.1 values that certificates and requests for them are made of, in DER (X.690). */

const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export const sequence = (...items: readonly Uint8Array[]): Buffer => value(tag.sequence, Buffer.concat(items));

/** In the order that DER asks of a SET OF: by their bytes. */
export const setOf = (...items: readonly Uint8Array[]): Buffer =>
  value(tag.set, Buffer.concat(items.toSorted((a, b) => Buffer.compare(a, b))));

/** For 0 to 127. */
export const smallInteger = (integer: number): Buffer => value(tag.integer, Buffer.of(integer));

/** A positive number of any size, most significant octet first; without a zero in front. */
export const positiveInteger = (octets: Uint8Array): Buffer =>
  value(tag.integer, (octets[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), octets]) : octets);

export const yes = (): Buffer => value(tag.boolean, Buffer.of(0xff));

export const octetString = (octets: Uint8Array): Buffer => value(tag.octetString, octets);

/** A value under a tag of its context's: 0x82 is `[2] IMPLICIT`. */
export const primitive = (tagOctet: number, content: Uint8Array): Buffer => value(tagOctet, content);

/** "2026-01-02T03:04:05Z" as RFC 5280 wants times in certificates: two digits for the years before 2050, four from then on. */
export function time(iso: string): Buffer {
  const digits = iso.replace(/[-:T]/g, '');
  return Number(iso.slice(0, 4)) < 2050
    ? value(tag.utcTime, Buffer.from(digits.slice(2)))
    : value(tag.generalizedTime, Buffer.from(digits));
}

/** A named bit list of one octet: its first bits are `octet`'s highest, the last `unused` of them mean nothing. */
export const namedBits = (octet: number, unused: number): Buffer => value(tag.bitString, Buffer.of(unused, octet));

/** Whole octets, none of their bits unused. */
export const bitString = (octets: Uint8Array): Buffer => value(tag.bitString, Buffer.concat([Buffer.of(0), octets]));

/** Constructed, with a number of 0 to 30: `[0] …` */
export const contextTag = (number: number, content: Uint8Array): Buffer => value(0xa0 + number, content);

/** PrintableString where its alphabet allows, as most readers expect in names, else UTF8String. */
export function text(characters: string): Buffer {
  const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(characters);
  return value(printable ? tag.printableString : tag.utf8String, Buffer.from(characters));
}

/** From "1.2.840.10045.4.3.2". */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return value(tag.oid, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function value(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content]);
}

function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 + octets.length, ...octets];
}

/** Seven bits an octet, all but the last marked by the eighth. */
function base128(number: number): readonly number[] {
  const octets = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift(0x80 + (rest % 128));
  return octets;
}
