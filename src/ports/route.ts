import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What a request's path and query say. */
export interface RouteRequest {
  readonly message: IncomingMessage;
  /** The values of the path's `{names}`, decoded; what a trailing `{rest*}` matched. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Aborts when the client has gone or the server stops. */
  readonly signal: AbortSignal;
}

/** One thing that the server answers, declared in one place: who may reach it follows from its flags and its path. */
export interface Route {
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[];
  /** "/containerLogs/{namespace}/{pod}/{container}"; "/logs/{rest*}" takes all below it. */
  readonly path: string;
  /** Off with enableDebuggingHandlers=false. */
  readonly debugging?: true;
  /** Served on the read-only port, too. */
  readonly readOnly?: true;
  /**
   * Served at --page-address, too. home: the page itself. file: what it loads, the same for everybody. data: what it shows, for who may see
   * it; only what changes nothing.
   */
  readonly page?: 'home' | 'file' | 'data';
  /**
   * Resolves when everything is written: the answer is ended then, if it is not yet. Rejects with HttpError for an answer other than 500.
   * What is thrown after the head was sent cuts the connection.
   */
  handle?(request: RouteRequest, response: ServerResponse): Promise<void>;
  /** A request that asks for another protocol. Whatever it throws before it has answered becomes the answer. */
  upgrade?(request: RouteRequest, socket: Duplex, head: Buffer): Promise<void>;
}

/** An answer other than success: plain text, as the kubelet gives it. */
export class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
