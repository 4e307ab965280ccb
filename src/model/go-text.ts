// Go's ideas of text where they differ from JavaScript's.

const spaces = new Set(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
);

/** strings.TrimSpace: cuts U+0085 and keeps U+FEFF, unlike String.prototype.trim. Looks at the edges alone: a pattern would try each run of spaces. */
export function trimSpace(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && spaces.has(text.charAt(start))) start++;
  while (end > start && spaces.has(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

const space = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/** strings.Fields: the parts between white space. */
export function splitFields(text: string): readonly string[] {
  return text.split(space).filter((field) => field !== '');
}

/** strings.ToLower: what is left of İ is a plain i, without the dot that String.prototype.toLowerCase keeps. */
export function toLower(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

/** Two names of JSON fields are one to encoding/json when this makes them the same: letter case does not count, and the long s is an s. */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('\u017f', 's');
}

/** A character of UTF-8 beyond ASCII, each byte written as one of Latin-1 (RFC 3629); else a byte that is part of none. */
const beyondAscii =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|[\x80-\xff]/g;

/** Bytes as encoding/json writes a string of them: each one that is no UTF-8 becomes U+FFFD, where JavaScript makes one of several. */
export function fromUtf8(bytes: Buffer): string {
  const replacement = Buffer.from('\ufffd').toString('latin1');
  const wellFormed = bytes.toString('latin1').replace(beyondAscii, (char) => (char.length === 1 ? replacement : char));
  return Buffer.from(wellFormed, 'latin1').toString();
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
const toEscape = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

/** The verb %q, as strconv.Quote: what Go thinks unprintable is escaped. */
export function quote(text: string): string {
  const escaped = Buffer.from(text)
    .toString()
    .replace(toEscape, (char) => {
      const short = shortEscapes[char];
      if (short !== undefined) return short;
      const hex = (char.codePointAt(0) ?? 0).toString(16);
      if (char < ' ' || char === '\u007f') return `\\x${hex.padStart(2, '0')}`;
      return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
    });
  return `"${escaped}"`;
}
