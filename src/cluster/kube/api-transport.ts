import type { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type Observable, Subject } from 'rxjs';
import { Pool } from 'undici';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { isSamePair, type PemPair } from '../../base/pem-pair.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import { ApiUnreachableError } from '../../model/api-error.ts';
import type { Happenings } from '../../ports/happenings.ts';
import type { ApiClientName, Tracing } from '../../ports/tracing.ts';
import { apiConnector } from './api-connector.ts';
import { cancelClosedStreams } from './cancelled-streams.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { connectionFault } from './connection-fault.ts';
import { hasSeveralValues } from './impersonation.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { through } from './proxy.ts';
import { SilenceWatch } from './silence-watch.ts';

/** What is reported of requests to the API server. */
export type ApiHappenings = Pick<Happenings, 'apiRequested' | 'apiRequestWaited'>;

export interface ApiTransportOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly log: Logger;
  readonly userAgent: string;
  /** Undefined: as docs/adr/0006-silent-connections.md has it. */
  readonly silence: SilenceSettings | undefined;
  readonly tell: ApiHappenings;
  readonly tracing: Tracing;
  /** Whether this request is to fail, as --chaos-chance asks for. Absent: none is. */
  readonly chaos?: (() => boolean) | undefined;
}

/** When a connection counts as dead. Milliseconds. */
export interface SilenceSettings {
  /** How often an HTTP/2 connection is pinged. */
  readonly pingEveryMs: number;
  /** How often it is looked at. */
  readonly lookEveryMs: number;
  /** How long nothing at all may come. */
  readonly maxSilenceMs: number;
}

// docs/adr/0006-silent-connections.md: together well within 45 s.
const defaultSilence: SilenceSettings = { pingEveryMs: 10_000, lookEveryMs: 5_000, maxSilenceMs: 30_000 };
const CONNECT_TIMEOUT_MS = 10_000;
/** More than the 100 that servers allow: they lower it themselves. */
const MAX_CONCURRENT_STREAMS = 250;

export interface TransportRequest {
  readonly client: ApiClientName;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With the query. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
}

/** An answer whose body has not been read yet. Read it, or destroy it. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable & { text(): Promise<string> };
  /** Aborts when a newer certificate has taken this connection's place: long answers move over. */
  readonly retired: AbortSignal;
  /** Whether the connection's own life is watched. */
  readonly watched: boolean;
  /** The server did not believe the credentials (401), and others may be had by asking again. */
  readonly disbelieved: boolean;
}

interface Generation {
  readonly identity: PemPair | undefined;
  readonly pool: Pool;
  readonly retired: AbortController;
  readonly ended: AbortController;
  readonly watch: SilenceWatch;
  http2: boolean;
}

/**
 * The connections to one API server, shared by all traffic: HTTP/2 where offered, one set for each TLS identity. Requests go out with
 * the present credentials; when these bring another certificate, new requests use new connections, and the old ones end with their last answer.
 */
export class ApiTransport {
  readonly #options: ApiTransportOptions;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #recovered = new Subject<void>();
  /** The last is the one in use; the others are ending. */
  readonly #generations = new Set<Generation>();
  #current: Generation | undefined;
  #unreachable = false;
  #closed = false;
  readonly #leaveStreams = cancelClosedStreams();

  /** The server answers again after it did not. */
  readonly recovered: Observable<void> = this.#recovered;

  constructor(options: ApiTransportOptions) {
    this.#options = options;
    const url = new URL(options.access.server);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
  }

  /** "GET https://10.0.0.1:6443/api/v1/nodes", and through which proxy: without the query. */
  describe({ method, path }: Pick<TransportRequest, 'method' | 'path'>): string {
    const { server, proxy } = this.#options.access;
    return `${method} ${server}${withoutQuery(path)}${through(proxy)}`;
  }

  /** Resolves when there are credentials. Rejects where there will be none, or with the signal's reason. */
  async ready(signal: AbortSignal): Promise<void> {
    await this.#options.access.ready?.(signal);
  }

  /** Sends, and resolves with whatever the server answers. Rejects with ApiUnreachableError, with the credentials' own error, or the signal's reason. */
  async open(request: TransportRequest, signal: AbortSignal): Promise<OpenAnswer> {
    const { client, method } = request;
    if (this.#options.chaos?.() === true)
      throw this.unreachable(request, new Error('connection reset by peer (made up by --chaos-chance)'));
    const path = withoutQuery(`${this.#basePath}${request.path}`);
    return this.#options.tracing.within({ do: 'ask the API', client, method, server: this.#origin, path }, (traceparent) =>
      this.#open(request, traceparent, signal),
    );
  }

  /** A request has had to wait for its turn. */
  waited(method: string, waitedMs: number): void {
    this.#options.tell.apiRequestWaited({ method, server: this.#origin, waitedMs });
  }

  /** For an answer that broke off while it was read. */
  unreachable(request: Pick<TransportRequest, 'method' | 'path'>, cause: unknown): ApiUnreachableError {
    this.#unreachable = true;
    return new ApiUnreachableError(`${this.describe(request)}: ${connectionFault(cause, this.#options.access).text}`, { cause });
  }

  /** A deadline was missed, and the cause is not known. Over HTTP/1.1, where nothing else shows that a connection is dead, the next request dials again. */
  unanswered(): void {
    this.#unreachable = true;
    const current = this.#current;
    if (current === undefined || current.http2) return;
    this.#current = undefined;
    this.#finish(current);
  }

  /** Ends every connection; requests under way fail. */
  closeConnections(): void {
    this.#current = undefined;
    for (const generation of this.#generations) void this.#destroy(generation, new Error('connections closed to dial again'));
  }

  /** Looks for new credentials now, so that open watches move to a new certificate. */
  async refreshCredentials(signal: AbortSignal): Promise<void> {
    const { credentials } = this.#options.access;
    credentials.refused();
    const { identity } = await credentials.current(signal);
    this.#generationOf(identity);
  }

  /** Ends everything for good. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#current = undefined;
    const error = new Error('the client was closed');
    await Promise.all([...this.#generations].map((generation) => this.#destroy(generation, error)));
    this.#leaveStreams();
  }

  async #open(request: TransportRequest, traceparent: string | undefined, signal: AbortSignal): Promise<OpenAnswer> {
    const { credentials } = this.#options.access;
    const { identity, authorization } = await credentials.current(signal);
    signal.throwIfAborted();
    const generation = this.#generationOf(identity);
    const { method, path, body, contentType } = request;
    const headers: Record<string, string | string[]> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...this.#options.access.impersonation,
    };
    if (traceparent !== undefined) headers['traceparent'] = traceparent;
    if (authorization !== undefined) headers['authorization'] = authorization;
    if (body !== undefined) headers['content-type'] = contentType ?? 'application/json';
    const sentAtMs = this.#options.clock.monotonicMs();
    let code: number | undefined;
    try {
      // Deadlines are the caller's. Until there is a connection undici does not hear the signal.
      const sent = generation.pool.request({
        method,
        path: `${this.#basePath}${path}`,
        headers,
        body: body ?? null,
        signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const answer = await unlessAborted(sent, signal);
      this.#heard();
      const { statusCode: status, headers: answered, body: content } = answer;
      code = status;
      const disbelieved = status === 401 && credentials.refused();
      return { status, headers: answered, body: content, retired: generation.retired.signal, watched: generation.http2, disbelieved };
    } catch (error) {
      signal.throwIfAborted();
      throw this.unreachable(request, error);
    } finally {
      const tookMs = this.#options.clock.monotonicMs() - sentAtMs;
      this.#options.tell.apiRequested({ method, server: this.#origin, status: code, tookMs });
    }
  }

  #heard(): void {
    if (!this.#unreachable) return;
    this.#unreachable = false;
    this.#recovered.next();
  }

  #generationOf(identity: PemPair | undefined): Generation {
    const before = this.#current;
    if (before !== undefined && isSamePair(before.identity, identity)) return before;
    if (this.#closed) throw new Error('the client was closed');
    const generation = this.#generation(identity);
    this.#generations.add(generation);
    this.#current = generation;
    if (before !== undefined) this.#retire(before);
    return generation;
  }

  #generation(identity: PemPair | undefined): Generation {
    const { access, clock, silence = defaultSilence } = this.#options;
    const { pingEveryMs, lookEveryMs, maxSilenceMs } = silence;
    const watch = new SilenceWatch({ clock, everyMs: lookEveryMs, looks: Math.ceil(maxSilenceMs / lookEveryMs) });
    const onConnected: Parameters<typeof apiConnector>[0]['onConnected'] = (socket) => {
      generation.http2 = socket instanceof TLSSocket && socket.alpnProtocol === 'h2';
      if (generation.http2) watch.add(socket);
    };
    const ended = new AbortController();
    const allowH2 = !hasSeveralValues(access.impersonation);
    const connector = { access, allowH2, identity, clock, connectTimeoutMs: CONNECT_TIMEOUT_MS, signal: ended.signal, onConnected };
    const connect = usable(access, () => apiConnector(connector));
    const pool = new Pool(this.#origin, {
      connect,
      allowH2,
      h2Options: { maxConcurrentStreams: MAX_CONCURRENT_STREAMS, pingInterval: pingEveryMs },
      keepAliveTimeout: 30_000,
    });
    const generation: Generation = { identity, pool, retired: new AbortController(), ended, watch, http2: false };
    return generation;
  }

  #retire(generation: Generation): void {
    this.#options.log.info('client certificate changed, connections move over', { server: this.#options.access.server });
    generation.retired.abort(new Error('the client certificate changed'));
    this.#finish(generation);
  }

  /** What is under way goes on to its end. */
  #finish(generation: Generation): void {
    void generation.pool.close().finally(() => this.#generations.delete(generation));
  }

  async #destroy(generation: Generation, error: Error): Promise<void> {
    this.#generations.delete(generation);
    generation.ended.abort(error);
    await generation.pool.destroy(error);
    generation.watch.stop();
  }
}

const withoutQuery = (path: string): string => path.replace(/\?.*$/s, '');

/** What OpenSSL does not take is a fault of the kubeconfig. */
function usable<T>({ origin }: ClusterAccess, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new KubeconfigError(
      'malformed',
      `${origin}: certificate and key cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}
