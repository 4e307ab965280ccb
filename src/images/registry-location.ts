/** Registry locations in docker config files, read and compared as the kubelet does (pkg/credentialprovider/keyring.go over Go's net/url). */
import { globMatches } from '../base/glob.ts';

export interface RegistryLocation {
  readonly host: string;
  /** Percent-decoded; empty or beginning with a slash. */
  readonly path: string;
}

/** Undefined for what Go's url.Parse refuses. Without http:// or https:// in front, https:// is assumed. */
export function parseRegistryLocation(text: string): RegistryLocation | undefined {
  const [beforeFragment = '', ...fragment] = text.replace(/^https?:\/\//, '').split('#');
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(beforeFragment)) return undefined;
  if (percentDecoded(fragment.join('#')) === undefined) return undefined;
  const beforeQuery = beforeFragment.split('?', 1)[0] ?? '';
  const slash = beforeQuery.indexOf('/');
  const authority = slash < 0 ? beforeQuery : beforeQuery.slice(0, slash);
  const path = percentDecoded(slash < 0 ? '' : beforeQuery.slice(slash));
  const at = authority.lastIndexOf('@');
  const userInfo = authority.slice(0, Math.max(at, 0));
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(userInfo) || percentDecoded(userInfo) === undefined) return undefined;
  const host = parseHost(authority.slice(at + 1));
  return host === undefined || path === undefined ? undefined : { host, path };
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

function parseHost(text: string): string | undefined {
  const portAt = text.startsWith('[') ? text.lastIndexOf(']') + 1 : text.lastIndexOf(':');
  if (text.startsWith('[') && portAt === 0) return undefined;
  if (portAt >= 0 && !/^(:\d*)?$/.test(text.slice(portAt))) return undefined;
  const name = portAt < 0 ? text : text.slice(0, portAt);
  // In a host only bytes outside ASCII may be percent-encoded, and the percent sign that opens an IPv6 zone.
  if (/%(?!25|[89a-f][\da-f])/i.test(name) || /[^\w\-.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.test(name)) return undefined;
  return percentDecoded(text);
}

/** "" for no port, and for whatever net.SplitHostPort refuses. */
function splitHostPort(host: string): readonly [host: string, port: string] {
  const bracketed = /^\[([^\]]*)\]:([^:[\]]*)$/.exec(host) ?? /^([^:[\]]*):([^:[\]]*)$/.exec(host);
  return [bracketed?.[1] ?? host, bracketed?.[2] ?? ''];
}

function percentDecoded(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  if (!text.includes('%')) return text;
  const parts = text.split(/%([\da-f]{2})/i).map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.from(part, 'hex')));
  return Buffer.concat(parts).toString();
}
