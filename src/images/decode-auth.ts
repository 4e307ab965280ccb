import { trimSpace } from '../model/go-text.ts';

/** A docker config's `auth` field: base64 of "username:password", padded or not (pkg/credentialprovider/config.go). */
export function decodeAuth(field: string): { readonly username: string; readonly password: string } {
  const decoded = decodeBase64(field, trimSpace(field).endsWith('=')).toString();
  const colon = decoded.indexOf(':');
  if (colon < 0) throw new Error('unable to parse auth field, must be formatted as base64(username:password)');
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

const CR = 0x0d;
const LF = 0x0a;
const PAD = 0x3d;

/** Strict where Node is lenient, and naming the same byte as Go's encoding/base64 does. Line ends are ignored anywhere. */
function decodeBase64(text: string, padded: boolean): Buffer {
  const bytes = Buffer.from(text);
  const illegal = (at: number): Error => new Error(`illegal base64 data at input byte ${at}`);
  const afterLineEnds = (at: number): number => {
    while (bytes[at] === CR || bytes[at] === LF) at++;
    return at;
  };
  let digits = '';
  let at = 0;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === CR || byte === LF) continue;
    const character = String.fromCharCode(byte);
    if (/[A-Za-z0-9+/]/.test(character)) {
      digits += character;
      continue;
    }
    const inGroup = digits.length % 4;
    if (!padded || byte !== PAD || inGroup < 2) throw illegal(at);
    let next = at + 1;
    if (inGroup === 2) {
      next = afterLineEnds(next);
      if (next === bytes.length) throw illegal(next);
      if (bytes[next] !== PAD) throw illegal(next - 1);
      next++;
    }
    next = afterLineEnds(next);
    if (next < bytes.length) throw illegal(next);
    return Buffer.from(digits, 'base64');
  }
  const left = digits.length % 4;
  if (left === 1 || (left > 0 && padded)) throw illegal(bytes.length - left);
  return Buffer.from(digits, 'base64');
}
