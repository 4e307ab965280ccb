/** Registry locations in docker config files, read and compared as the kubelet does (pkg/credentialprovider/keyring.go over Go's net/url). */
import { globMatches } from '../base/glob.ts';
import { quote } from '../model/go-text.ts';

export interface RegistryLocation {
  readonly host: string;
  /** Percent-decoded; empty or beginning with a slash. */
  readonly path: string;
}

/** Undefined for what Go's url.Parse refuses. Without http:// or https:// in front, https:// is assumed. */
export function parseRegistryLocation(text: string): RegistryLocation | undefined {
  const read = readLocation(text.replace(/^https?:\/\//, ''));
  return typeof read === 'string' ? undefined : read;
}

/** Why a location without a scheme is refused, in Go's words (ParseSchemelessURL); undefined: it is not. */
export function registryLocationFault(text: string): string | undefined {
  const read = readLocation(text);
  return typeof read === 'string' ? `parse ${quote(`https://${text}`)}: ${read}` : undefined;
}

/** What follows the scheme; in words why it cannot be. */
function readLocation(text: string): RegistryLocation | string {
  const [beforeFragment = '', ...fragment] = text.split('#');
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(beforeFragment)) return 'net/url: invalid control character in URL';
  const beforeQuery = beforeFragment.split('?', 1)[0] ?? '';
  const slash = beforeQuery.indexOf('/');
  const authority = slash < 0 ? beforeQuery : beforeQuery.slice(0, slash);
  const escapedPath = slash < 0 ? '' : beforeQuery.slice(slash);
  const at = authority.lastIndexOf('@');
  const userInfo = authority.slice(0, Math.max(at, 0));
  const escapedHost = authority.slice(at + 1);
  const hostWrong = hostFault(escapedHost);
  if (hostWrong !== undefined) return hostWrong;
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(userInfo)) return 'net/url: invalid userinfo';
  for (const part of [userInfo, escapedPath, fragment.join('#')]) {
    const escape = badEscape(part);
    if (escape !== undefined) return `invalid URL escape ${quote(escape)}`;
  }
  return { host: percentDecoded(escapedHost), path: percentDecoded(escapedPath) };
}

/** Whether credentials for `glob` are good for `target`: the same port, as many labels each matching, and a path that begins alike. */
export function locationCovers(glob: RegistryLocation, target: RegistryLocation): boolean {
  const [globHost, globPort] = splitHostPort(glob.host);
  const [targetHost, targetPort] = splitHostPort(target.host);
  const globLabels = globHost.split('.');
  const targetLabels = targetHost.split('.');
  return (
    globPort === targetPort &&
    globLabels.length === targetLabels.length &&
    target.path.startsWith(glob.path) &&
    globLabels.every((label, i) => globMatches(label, targetLabels[i] ?? ''))
  );
}

function hostFault(text: string): string | undefined {
  const isBracketed = text.startsWith('[');
  const portAt = isBracketed ? text.lastIndexOf(']') + 1 : text.lastIndexOf(':');
  if (isBracketed && portAt === 0) return "missing ']' in host";
  const port = portAt < 0 ? '' : text.slice(portAt);
  if (!/^(:\d*)?$/.test(port)) return `invalid port ${quote(port)} after host`;
  // In a host only bytes outside ASCII may be percent-encoded, and the percent sign that opens an IPv6 zone.
  const escape = badEscape(text) ?? /%(?!25|[89a-f])../i.exec(text)?.[0];
  if (escape !== undefined) return `invalid URL escape ${quote(escape)}`;
  const character = /[^\w\-.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(text)?.[0];
  return character === undefined ? undefined : `invalid character ${quote(character)} in host name`;
}

/** "" for no port, and for whatever net.SplitHostPort refuses. */
function splitHostPort(host: string): readonly [host: string, port: string] {
  const bracketed = /^\[([^\]]*)\]:([^:[\]]*)$/.exec(host) ?? /^([^:[\]]*):([^:[\]]*)$/.exec(host);
  return [bracketed?.[1] ?? host, bracketed?.[2] ?? ''];
}

/** Three characters, as many as are left of them. */
const badEscape = (text: string): string | undefined => /%(?![\da-f]{2}).{0,2}/is.exec(text)?.[0];

function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  const parts = text.split(/%([\da-f]{2})/i).map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.from(part, 'hex')));
  return Buffer.concat(parts).toString();
}
