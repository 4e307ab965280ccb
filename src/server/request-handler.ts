import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { type AnySignal, anySignal } from '../base/any-signal.ts';
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/error-text.ts';
import type { Logger } from '../base/logger.ts';
import { withoutCredentials } from '../base/without-credentials.ts';
import type { Happenings, ServedRequest } from '../ports/happenings.ts';
import type { AccessControl } from './auth/access-control.ts';
import type { UserInfo } from './auth/user-info.ts';
import { answerText } from './plain-answer.ts';
import { refuseConnection } from './refuse-connection.ts';
import { peerOf } from './connection-room.ts';
import { requestLabels } from './request-labels.ts';
import { queryOf, requestTarget } from './request-target.ts';
import { HttpError, type Route, type RouteRequest } from '../ports/route.ts';
import type { Router } from './router.ts';
import type { Tracing, TracedWork } from '../ports/tracing.ts';

/** What takes requests off a listener. Nothing here throws or rejects. */
export interface RequestHandler {
  /** Whether a request to change the protocol is one: else it is answered as if it had not asked, as HTTP allows. */
  wantsUpgrade(message: IncomingMessage): boolean;
  request(message: IncomingMessage, response: ServerResponse, stop: AbortSignal): Promise<void>;
  upgrade(message: IncomingMessage, socket: Duplex, head: Buffer, stop: AbortSignal): Promise<void>;
}

export interface RequestHandlerDeps {
  readonly router: Router;
  /** Why a request is refused before anything else is looked at. Absent: none is. */
  readonly foreign?: (headers: IncomingHttpHeaders) => string | undefined;
  /** Undefined: every client that can connect may do all. */
  readonly access:
    | {
        readonly control: AccessControl;
        /** Whom the client certificate of the request's connection names. Throws when it is not to be believed. */
        readonly certificateUser: (message: IncomingMessage) => UserInfo | undefined;
        /** Called with the connection of each request that is let in. */
        readonly onLetIn: (socket: Socket) => void;
      }
    | undefined;
  /** Undefined: what comes here is not counted. */
  readonly tell: Pick<Happenings, 'requestBegun' | 'requestEnded'> | undefined;
  /** What is let in is answered within it; what strangers ask for is not traced, whatever their headers say. */
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Declared bodies above this are refused: nothing that is served here takes more. */
const MOST_BODY_BYTES = 3 * 1024 * 1024;

interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Found = { readonly route: Route; readonly params: RouteRequest['params']; readonly query: URLSearchParams };

/** Reads the target, asks who it is and what they may, finds the route, and has it answer. */
export function requestHandler({ router, foreign, access, tell, tracing, clock, log }: RequestHandlerDeps): RequestHandler {
  const measure = ({ method, url }: IncomingMessage, stream: Duplex | ServerResponse): void => {
    if (tell === undefined) return;
    const request: ServedRequest = { labels: requestLabels(method ?? '', url ?? '', access ? 'readwrite' : 'readonly') };
    tell.requestBegun(request);
    stream.once('close', () => tell.requestEnded(request));
  };
  const find = async (message: IncomingMessage, signal: AbortSignal): Promise<Found | { readonly refusal: Refusal }> => {
    const strange = foreign?.(message.headers);
    if (strange !== undefined) return { refusal: { status: 403, text: strange } };
    const target = requestTarget(message.url ?? '');
    const method = message.method ?? '';
    // First of all, whatever was asked for: a target without a path is asked about as the root.
    const refusal = await access?.control({
      method,
      path: 'fault' in target ? '/' : target.path,
      headers: message.headers,
      certificateUser: () => access.certificateUser(message),
      peer: peerOf(message.socket.remoteAddress),
      signal,
    });
    if (refusal !== undefined) {
      // Another certificate takes another connection.
      const headers = refusal.status === 401 ? { headers: { Connection: 'close' } } : {};
      return { refusal: { status: refusal.status, text: refusal.message, ...headers } };
    }
    access?.onLetIn(message.socket);
    if ('fault' in target) return { refusal: { status: 400, text: target.fault } };
    if ('redirect' in target) {
      return { refusal: { status: 301, text: 'Moved Permanently\n', headers: { Location: target.redirect } } };
    }
    if (Number(message.headers['content-length'] ?? 0) > MOST_BODY_BYTES)
      return { refusal: { status: 413, text: 'request body too large' } };
    const found = router.find(method, target.path);
    if ('status' in found) {
      const headers = found.allow === undefined ? {} : { headers: { Allow: found.allow } };
      return { refusal: { status: found.status, text: found.message, ...headers } };
    }
    const query = queryOf(target.search);
    return query === undefined ? { refusal: { status: 400, text: 'too many parameters in the query' } } : { ...found, query };
  };

  return {
    wantsUpgrade: (message) => {
      const target = requestTarget(message.url ?? '');
      if (!('search' in target)) return false;
      const found = router.find(message.method ?? '', target.path);
      return 'route' in found && found.route.upgrade !== undefined;
    },

    async request(message, response, stop) {
      measure(message, response);
      const own = linked(stop, response);
      const { signal } = own;
      try {
        const found = await find(message, signal);
        if (response.destroyed) return;
        if ('refusal' in found) {
          answerText(response, found.refusal.status, found.refusal.text, found.refusal.headers);
          return;
        }
        const { route, params, query } = found;
        if (route.handle === undefined) throw new HttpError(400, 'Upgrade request required');
        await tracing.within(serving(message, route), async () => route.handle?.({ message, params, query, signal }, response));
        if (!response.writableEnded) response.end();
      } catch (error) {
        if (response.headersSent || response.destroyed) {
          if (!signal.aborted) log.warn('response interrupted', { ...about(message), error });
          response.destroy();
          return;
        }
        const { status, text } = answerTo(error, about(message), log);
        // What the handler had prepared belongs to another answer.
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        answerText(response, status, text);
      } finally {
        if (response.destroyed || response.writableEnded) own[Symbol.dispose]();
      }
    },

    async upgrade(message, socket, head, stop) {
      // Those who read and write get the error, too.
      socket.on('error', (error) => log.v(4, 'connection failed', { ...about(message), error }));
      measure(message, socket);
      const { signal } = linked(stop, socket);
      const before = sentOn(socket);
      try {
        const found = await find(message, signal);
        if (socket.destroyed) return;
        if ('refusal' in found) {
          const { status, text, headers = {} } = found.refusal;
          await refuseConnection(socket, clock, status, text, Object.entries(headers));
          return;
        }
        const { route, params, query } = found;
        if (route.upgrade === undefined) throw new HttpError(400, 'this cannot be upgraded');
        await tracing.within(serving(message, route), async () => route.upgrade?.({ message, params, query, signal }, socket, head));
      } catch (error) {
        if (socket.destroyed) return;
        if (sentOn(socket) !== before) {
          if (!signal.aborted) log.warn('stream interrupted', { ...about(message), error });
          socket.destroy();
          return;
        }
        const { status, text } = answerTo(error, about(message), log);
        await refuseConnection(socket, clock, status, text);
      }
    },
  };
}

const serving = ({ method = '', headers }: IncomingMessage, { path }: Route): TracedWork => ({
  do: 'serve',
  method,
  route: path,
  traceparent: [headers['traceparent']].flat().join(),
});

/** A signal that aborts with `stop`, or when `stream` has closed. */
function linked(stop: AbortSignal, stream: Duplex | ServerResponse): AnySignal {
  const own = anySignal(stop);
  stream.once('close', () => own.abort(new Error('the client has gone')));
  return own;
}

const sentOn = (socket: Duplex): number => ('bytesWritten' in socket && typeof socket.bytesWritten === 'number' ? socket.bytesWritten : 0);

/** Without the query: a command line may hold secrets. */
const about = ({ method, url }: IncomingMessage): { readonly method: string; readonly path: string } => ({
  method: method ?? '',
  path: (url ?? '').replace(/\?.*/s, ''),
});

function answerTo(error: unknown, fields: object, log: Logger): { readonly status: number; readonly text: string } {
  if (error instanceof HttpError) return { status: error.status, text: error.message };
  log.error('request failed', { ...fields, error });
  return { status: 500, text: withoutCredentials(errorText(error)) };
}
