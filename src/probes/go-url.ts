import { domainToASCII } from 'node:url';
import { quote } from '../model/go-text.ts';

/** A URL as Go's net/url takes it apart. Texts hold one character a byte, as URLs are bytes. */
export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  /** "name" or "name:password", escaped; undefined: none. */
  readonly user: string | undefined;
  /** With the port. */
  readonly host: string;
  /** Unescaped. */
  readonly path: string;
  /** How the path was written, where that is not the usual way. */
  readonly rawPath: string;
  readonly forceQuery: boolean;
  readonly rawQuery: string;
  readonly fragment: string;
  readonly rawFragment: string;
}

/** What cannot be a URL, in the words of Go. */
export class GoUrlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'GoUrlError';
  }
}

type Part = 'path' | 'user' | 'host' | 'fragment';

const empty: GoUrl = {
  scheme: '',
  opaque: '',
  user: undefined,
  host: '',
  path: '',
  rawPath: '',
  forceQuery: false,
  rawQuery: '',
  fragment: '',
  rawFragment: '',
};

const toBytes = (text: string): string => Buffer.from(text).toString('latin1');
const fromBytes = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

/** A URL that is nothing but a path, whatever the path looks like. */
export function urlOfPath(path: string): GoUrl {
  return { ...empty, path: toBytes(path) };
}

/** net/url Parse: any reference, also a relative one. Throws GoUrlError. */
export function parseGoUrl(text: string): GoUrl {
  const raw = toBytes(text);
  const [before, fragment] = cut(raw, '#');
  const url = wrapped(before, () => parseBeforeFragment(before));
  if (fragment === '') return url;
  return wrapped(raw, () => {
    const plain = unescape(fragment, 'fragment');
    return { ...url, fragment: plain, rawFragment: escape(plain, 'fragment') === fragment ? '' : fragment };
  });
}

function wrapped<T>(raw: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    throw new GoUrlError(`parse ${quote(fromBytes(raw))}: ${error.message}`);
  }
}

function parseBeforeFragment(raw: string): GoUrl {
  if (raw.split('').some(isControl)) throw new GoUrlError('net/url: invalid control character in URL');
  if (raw === '*') return { ...empty, path: '*' };
  if (raw.startsWith(':')) throw new GoUrlError('missing protocol scheme');
  const [, withScheme] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(raw) ?? [];
  const scheme = (withScheme ?? '').toLowerCase();
  let rest = withScheme === undefined ? raw : raw.slice(withScheme.length + 1);
  const forceQuery = rest.indexOf('?') === rest.length - 1 && rest !== '';
  const [beforeQuery, rawQuery] = cut(rest, '?');
  rest = beforeQuery;
  const url: GoUrl = { ...empty, scheme, forceQuery, rawQuery };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...url, opaque: rest };
    if (cut(rest, '/')[0].includes(':')) throw new GoUrlError('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    return { ...url, ...parseAuthority(authority), ...parsePath(slash < 0 ? '' : rest.slice(slash)) };
  }
  return { ...url, ...parsePath(rest) };
}

function parsePath(raw: string): Pick<GoUrl, 'path' | 'rawPath'> {
  const path = unescape(raw, 'path');
  return { path, rawPath: escape(path, 'path') === raw ? '' : raw };
}

function parseAuthority(authority: string): Pick<GoUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new GoUrlError('net/url: invalid userinfo');
  const [name, password] = cut(user, ':');
  const parts = user.includes(':') ? [name, password] : [name];
  return { user: parts.map((part) => escape(unescape(part, 'user'), 'user')).join(':'), host };
}

function parseHost(host: string): string {
  const bracket = host.lastIndexOf(']');
  if (host.startsWith('[') && bracket < 0) throw new GoUrlError("missing ']' in host");
  const port = host.startsWith('[') ? host.slice(bracket + 1) : host.includes(':') ? host.slice(host.lastIndexOf(':')) : '';
  if (!/^(:[0-9]*)?$/.test(port)) throw new GoUrlError(`invalid port ${quote(fromBytes(port))} after host`);
  return unescape(host, 'host');
}

/** net/url URL.String. */
export function formatGoUrl(url: GoUrl): string {
  let text = url.scheme === '' ? '' : `${url.scheme}:`;
  if (url.opaque !== '') text += url.opaque;
  else {
    const path = escapedPath(url);
    if (
      (url.scheme !== '' || url.host !== '' || url.user !== undefined) &&
      (url.host !== '' || url.path !== '' || url.user !== undefined)
    ) {
      text += `//${url.user === undefined ? '' : `${url.user}@`}${escape(url.host, 'host')}`;
    }
    if (path !== '' && !path.startsWith('/') && url.host !== '') text += '/';
    if (text === '' && cut(path, '/')[0].includes(':')) text = './';
    text += path;
  }
  if (url.forceQuery || url.rawQuery !== '') text += `?${url.rawQuery}`;
  if (url.fragment !== '') text += `#${written(url.fragment, url.rawFragment, 'fragment')}`;
  return fromBytes(text);
}

/** net/url URL.RequestURI: what stands in the request's first line, one character a byte. */
export function requestUri(url: GoUrl): string {
  const path = url.opaque === '' ? escapedPath(url) || '/' : url.opaque.startsWith('//') ? `${url.scheme}:${url.opaque}` : url.opaque;
  const query = url.forceQuery || url.rawQuery !== '' ? `?${url.rawQuery}` : '';
  // A server takes no blanks and no control characters there.
  return `${path}${query}`.replaceAll(' ', percent);
}

/** net/url URL.ResolveReference. */
export function resolveGoUrl(base: GoUrl, reference: GoUrl): GoUrl {
  const url = { ...reference, scheme: reference.scheme === '' ? base.scheme : reference.scheme };
  if (reference.scheme !== '' || reference.host !== '' || reference.user !== undefined) {
    return { ...url, ...parsePath(resolvePath(escapedPath(reference), '')) };
  }
  if (reference.opaque !== '') return { ...url, user: undefined, host: '', path: '', rawPath: '' };
  const { host, user, rawQuery, fragment, rawFragment, opaque } = base;
  const isEmpty = reference.path === '' && !reference.forceQuery && reference.rawQuery === '';
  const inherited = isEmpty ? { rawQuery, ...(reference.fragment === '' ? { fragment, rawFragment } : {}) } : {};
  if (reference.path === '' && opaque !== '') return { ...url, ...inherited, opaque, user: undefined, host: '', path: '', rawPath: '' };
  return { ...url, ...inherited, host, user, ...parsePath(resolvePath(escapedPath(base), escapedPath(reference))) };
}

/** RFC 3986, section 5.2.4, as Go does it. */
function resolvePath(base: string, reference: string): string {
  const full = reference === '' ? base : reference.startsWith('/') ? reference : base.slice(0, base.lastIndexOf('/') + 1) + reference;
  if (full === '') return '';
  const elements = full.split('/');
  let path = '/';
  let first = true;
  for (const element of elements) {
    if (element === '.') first = false;
    else if (element === '..') {
      const slash = path.slice(1).lastIndexOf('/');
      path = slash < 0 ? '/' : `/${path.slice(1).slice(0, slash)}`;
      first = slash < 0;
    } else {
      path += first ? element : `/${element}`;
      first = false;
    }
  }
  const last = elements.at(-1);
  if (last === '.' || last === '..') path += '/';
  return path.startsWith('//') ? path.slice(1) : path;
}

/** The host part of a URL: any name, and a port. */
export function hostAndPort(host: string, port: number): string {
  return toBytes(joinHostPort(host, port));
}

/** net.JoinHostPort. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** With the port, as people write it. */
export function textOfHost({ host }: GoUrl): string {
  return fromBytes(host);
}

/** What a Host header takes: a name beyond ASCII goes by its other one, as in the DNS. */
export function asciiHost(host: string): string {
  return host.replace(/^[^:]*\P{ASCII}[^:]*/u, (name) => domainToASCII(name) || name);
}

/** net/url URL.Hostname: without port and brackets. */
export function hostnameOf(url: GoUrl): string {
  return textOfHost(url)
    .replace(/:[0-9]*$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/** Undefined when the URL names none. */
export function portOf({ host }: GoUrl): number | undefined {
  const [, port] = /:([0-9]+)$/.exec(host) ?? [];
  return port === undefined ? undefined : Number(port);
}

/** net/url URL.EscapedPath */
function escapedPath({ path, rawPath }: GoUrl): string {
  return path === '*' ? '*' : written(path, rawPath, 'path');
}

/** As it was written, when that was a valid way to write it. */
function written(plain: string, raw: string, part: Part): string {
  const isValid = raw !== '' && raw.split('').every((char) => "!$&'()*+,;=:@[]%".includes(char) || !mustEscape(char, part));
  return isValid && unescape(raw, part) === plain ? raw : escape(plain, part);
}

const isControl = (char: string): boolean => char < ' ' || char === '\x7f';
const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

function escape(plain: string, part: Part): string {
  return plain
    .split('')
    .map((char) => (mustEscape(char, part) ? percent(char) : char))
    .join('');
}

/** What each part may hold unescaped, beside letters, digits and "-_.~". */
const allowed: Readonly<Record<Part, string>> = {
  path: '$&+,/:;=@',
  user: '$&+,;=',
  host: '!$&\'()*+,;=:[]<>"',
  fragment: '$&+,/:;=?@!()*',
};

function mustEscape(char: string, part: Part): boolean {
  return !/[A-Za-z0-9\-_.~]/.test(char) && !allowed[part].includes(char);
}

function unescape(raw: string, part: Part): string {
  const isHost = part === 'host';
  let plain = '';
  for (let at = 0; at < raw.length; at++) {
    const char = raw.charAt(at);
    if (char === '%') {
      const code = raw.slice(at, at + 3);
      const isCode = /^%[0-9a-fA-F]{2}$/.test(code);
      // In a host only bytes beyond ASCII may be escaped, and the percent sign of a zone.
      if (!isCode || (isHost && Number.parseInt(code.slice(1), 16) < 0x80 && code !== '%25')) {
        throw new GoUrlError(`invalid URL escape ${quote(fromBytes(code))}`);
      }
      plain += String.fromCharCode(Number.parseInt(code.slice(1), 16));
      at += 2;
    } else {
      if (isHost && char < '\x80' && mustEscape(char, part)) throw new GoUrlError(`invalid character ${quote(char)} in host name`);
      plain += char;
    }
  }
  return plain;
}

function cut(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
