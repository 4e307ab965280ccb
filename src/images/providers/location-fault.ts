import { quote } from '../../model/go-text.ts';
import { parseRegistryLocation } from '../registry-location.ts';

/** Why a registry location without a scheme cannot be read, in the words of Go's net/url; undefined: it can (ParseSchemelessURL). */
export function locationFault(text: string): string | undefined {
  if (parseRegistryLocation(`https://${text}`) !== undefined) return undefined;
  return `parse ${quote(`https://${text}`)}: ${faultOf(text)}`;
}

function faultOf(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'net/url: invalid control character in URL';
  const authority = text.split(/[/?#]/, 1)[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const escape = /%(?![\da-f]{2}).{0,2}/i.exec(host)?.[0];
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host";
  const port = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : host.slice(portAt(host));
  if (!/^(:\d*)?$/.test(port)) return `invalid port ${quote(port)} after host`;
  if (escape !== undefined) return `invalid URL escape ${quote(escape)}`;
  const wrong = /[^\w\-.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(host)?.[0];
  if (wrong !== undefined) return `invalid character ${quote(wrong)} in host name`;
  const pathEscape = /%(?![\da-f]{2}).{0,2}/i.exec(text)?.[0];
  return pathEscape === undefined ? 'net/url: invalid userinfo' : `invalid URL escape ${quote(pathEscape)}`;
}

const portAt = (host: string): number => (host.includes(':') ? host.lastIndexOf(':') : host.length);
