/** The few ASN.1 values that a certificate request is made of, in DER (X.690). */

const tag = { integer: 0x02, bitString: 0x03, oid: 0x06, utf8String: 0x0c, printableString: 0x13, sequence: 0x30, set: 0x31 } as const;

export const sequence = (...items: readonly Uint8Array[]): Buffer => value(tag.sequence, Buffer.concat(items));

/** In the order that DER asks of a SET OF: by their bytes. */
export const setOf = (...items: readonly Uint8Array[]): Buffer =>
  value(tag.set, Buffer.concat(items.toSorted((a, b) => Buffer.compare(a, b))));

/** For 0 to 127. */
export const smallInteger = (integer: number): Buffer => value(tag.integer, Buffer.of(integer));

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
