import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { abortable } from '../base/abortable.ts';
import type { Clock } from '../base/clock.ts';
import { deadline } from '../base/deadline.ts';
import { errorText } from '../base/error-text.ts';
import { quote } from '../model/go-text.ts';
import { dialErrorText, dialTimeoutText, fieldOf } from './dial-error.ts';
import {
  formatGoUrl,
  type GoUrl,
  GoUrlError,
  asciiHost,
  hostnameOf,
  parseGoUrl,
  portOf,
  requestUri,
  resolveGoUrl,
  textOfHost,
} from './go-url.ts';
import { MAX_OUTPUT_BYTES } from './probe-outcome.ts';
import type { ProbeHeaders } from './probe-request.ts';

export interface HttpGetOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>;
  /** For everything, redirects and the body included; 0: as long as it takes. */
  readonly timeoutMs: number;
  /** Where redirects may lead. One that may not be followed is the answer. */
  readonly follow: 'same host' | 'any host';
}

export interface HttpAnswer {
  readonly status: number;
  /** Its beginning. */
  readonly body: string;
}

/** There was no answer: `Get "URL": why`, in the words of Go's client. */
export class HttpGetError extends Error {
  /** The answer began, and broke off. */
  readonly inBody: boolean;

  constructor(message: string, inBody = false) {
    super(message);
    this.name = 'HttpGetError';
    this.inBody = inBody;
  }
}

/** net/http stops there. */
const MAX_REQUESTS = 10;
const MAX_HEADER_BYTES = 1 << 20;

/**
 * GET as Go's HTTP client does it for pkg/probe/http: a connection for each request, no proxy, certificates unverified, redirects followed
 * on the same host. Rejects with HttpGetError, or the signal's reason.
 */
export async function httpGet(url: GoUrl, headers: ProbeHeaders, options: HttpGetOptions, signal: AbortSignal): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const { timeoutMs, clock } = options;
  using own = deadline(clock, timeoutMs > 0 ? timeoutMs : Infinity, () => new TimeoutReached(), signal);
  try {
    return await followed({ url: asWritten(url), headers, host: headers.get('Host')?.[0] ?? '' }, options, own.signal);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/** A request is made of the URL's text, which a path without its slash gains one in. */
function asWritten(url: GoUrl): GoUrl {
  try {
    return parseGoUrl(formatGoUrl(url));
  } catch (error) {
    throw error instanceof GoUrlError ? new HttpGetError(error.message) : error;
  }
}

class TimeoutReached extends Error {}

interface Get {
  readonly url: GoUrl;
  readonly headers: ProbeHeaders;
  /** Of the Host header; empty: the URL's. */
  readonly host: string;
}

async function followed(first: Get, { follow }: HttpGetOptions, signal: AbortSignal): Promise<HttpAnswer> {
  let get = first;
  for (let requests = 1; ; requests++) {
    const answer = await send(get, signal);
    // Node reads a header as one character a byte.
    const location = Buffer.from(answer.headers.location ?? '', 'latin1').toString();
    if (!isRedirect(answer) || location === '') return await read(answer, signal);
    const next = redirected(first, get, location, answer);
    if (follow === 'same host' && hostnameOf(next.url) !== hostnameOf(first.url)) return await read(answer, signal);
    answer.destroy();
    if (requests === MAX_REQUESTS) throw new HttpGetError(`Get ${quote(location)}: stopped after ${MAX_REQUESTS} redirects`);
    get = next;
  }
}

function isRedirect({ statusCode = 0 }: IncomingMessage): boolean {
  return [301, 302, 303, 307, 308].includes(statusCode);
}

function redirected(first: Get, { url: last }: Get, location: string, answer: IncomingMessage): Get {
  try {
    const reference = parseGoUrl(location);
    const url = resolveGoUrl(last, reference);
    const headers = new Map(first.headers);
    if (!headers.has('Referer') && !(last.scheme === 'https' && url.scheme === 'http')) {
      headers.set('Referer', [formatGoUrl({ ...last, user: undefined })]);
    }
    // A host that the probe has asked for goes on where the redirect stays at the same place.
    return { url, headers, host: reference.scheme === '' ? first.host : '' };
  } catch (error) {
    answer.destroy();
    if (!(error instanceof GoUrlError)) throw error;
    throw new HttpGetError(`${opening(last)}failed to parse Location header ${quote(location)}: ${error.message}`);
  }
}

const opening = (url: GoUrl): string => `Get ${quote(formatGoUrl({ ...url, user: url.user?.replace(/:.*/, ':***') }))}: `;

async function send({ url, headers, host }: Get, signal: AbortSignal): Promise<IncomingMessage> {
  const failed = (why: string): HttpGetError => new HttpGetError(`${opening(url)}${why}`);
  const fault = faultOf(url, headers);
  if (fault !== undefined) throw failed(fault);
  const isTls = url.scheme === 'https';
  const hostname = hostnameOf(url) || 'localhost';
  const port = portOf(url) ?? (isTls ? 443 : 80);
  const options: RequestOptions & { readonly rejectUnauthorized: boolean; readonly servername: string } = {
    agent: false,
    hostname,
    port,
    path: requestUri(url),
    headers: headerLines({ url, headers, host }),
    insecureHTTPParser: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    rejectUnauthorized: false,
    servername: isIP(hostname) ? '' : hostname,
  };
  let connected = false;
  try {
    return await abortable<IncomingMessage>(signal, (resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(options);
      request.once('socket', (socket) => socket.once('connect', () => (connected = true)));
      request.once('response', resolve);
      request.on('error', (error) => reject(failed(sendErrorText(error, hostname, port))));
      request.end();
      return (aborted) => void (aborted && request.destroy());
    });
  } catch (error) {
    if (!(error instanceof TimeoutReached)) throw error;
    const late = connected ? 'context deadline exceeded' : dialTimeoutText(hostname, port);
    throw failed(`${late} (Client.Timeout exceeded while awaiting headers)`);
  }
}

function sendErrorText(error: Error, host: string, port: number): string {
  const dialled = dialErrorText(error, host, port);
  if (dialled !== undefined) return dialled;
  const code = fieldOf(error, 'code');
  if (code === 'ECONNRESET') return error.message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer';
  if (code === 'EPIPE') return 'write: broken pipe';
  if (code.startsWith('HPE_')) return 'net/http: HTTP/1.x transport connection broken: malformed HTTP response';
  if (code === 'EPROTO' && /wrong version number|packet length too long|http request/.test(error.message)) {
    return 'http: server gave HTTP response to HTTPS client';
  }
  return errorText(error);
}

/** The answer's beginning; what comes after it is not waited for. */
async function read(answer: IncomingMessage, signal: AbortSignal): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    await abortable<void>(signal, (resolve, reject) => {
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes >= MAX_OUTPUT_BYTES) resolve();
      });
      answer.once('end', () => resolve());
      answer.on('error', (error) => {
        reject(new HttpGetError(fieldOf(error, 'code') === 'ECONNRESET' ? 'unexpected EOF' : errorText(error), true));
      });
    });
  } catch (error) {
    if (!(error instanceof TimeoutReached)) throw error;
    throw new HttpGetError('context deadline exceeded (Client.Timeout or context cancellation while reading body)', true);
  } finally {
    answer.destroy();
  }
  return { status: answer.statusCode ?? 0, body: Buffer.concat(chunks).subarray(0, MAX_OUTPUT_BYTES).toString() };
}

/** Why the request cannot be sent at all; undefined: it can. */
function faultOf(url: GoUrl, headers: ProbeHeaders): string | undefined {
  for (const [name, values] of headers) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return `net/http: invalid header field name ${quote(name)}`;
    if (values.some((value) => value.split('').some((char) => (char < ' ' && char !== '\t') || char === '\x7f')))
      return `net/http: invalid header field value for ${quote(name)}`;
  }
  if (url.scheme !== 'http' && url.scheme !== 'https') return `unsupported protocol scheme ${quote(url.scheme)}`;
  return url.host === '' ? 'http: no Host in request URL' : undefined;
}

/** Names are written as they are given: two that differ in case alone are two headers. */
function headerLines({ url, headers, host }: Get): string[] {
  const lines: string[] = ['Host', asciiHost(host.replace(/[ /].*/s, '') || textOfHost(url))];
  const add = (name: string, value: string): number =>
    lines.push(name, Buffer.from(value.replace(/^[ \t]+|[ \t]+$/g, '')).toString('latin1'));
  const agent = headers.get('User-Agent')?.[0] ?? '';
  if (agent !== '') add('User-Agent', agent);
  for (const [name, values] of [...headers].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!handled.has(name)) for (const value of values) add(name, value);
  }
  if (url.user !== undefined && !headers.has('Authorization')) {
    add('Authorization', `Basic ${Buffer.from(userBytes(url.user), 'latin1').toString('base64')}`);
  }
  if (!headers.get('Connection')?.some((value) => /(^|,)\s*close\s*(,|$)/i.test(value))) add('Connection', 'close');
  return lines;
}

function userBytes(user: string): string {
  const both = user.includes(':') ? user : `${user}:`;
  return both.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** Written apart from the others, or not at all: a GET has no body. */
const handled: ReadonlySet<string> = new Set(['Host', 'User-Agent', 'Content-Length', 'Transfer-Encoding', 'Trailer']);
