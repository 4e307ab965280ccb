import type { Observable } from 'rxjs';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** "/api/v1/namespaces/default/pods/web/status" */
  readonly path: string;
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** For PATCH. */
  readonly contentType?: 'application/strategic-merge-patch+json' | 'application/merge-patch+json' | 'application/json-patch+json';
  /** Replaces the client's own deadline. */
  readonly timeoutMs?: number;
}

/** One door to the API server for one class of traffic, with its own rate limit and deadline. Objects are plain JSON, as on the wire. */
export interface KubeApi {
  /**
   * Waits for its turn, sends, and resolves with the answer's JSON. Rejects with ApiError, ApiUnreachableError or the signal's reason. 429
   * and 503 with Retry-After are waited for and sent again.
   */
  request<T>(request: ApiRequest, signal: AbortSignal): Promise<T>;
  /** Ends every connection, so that the next request dials again. */
  closeConnections(): void;
}

export interface WatchedObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string; readonly resourceVersion: string };
}

/** What an informer tells. `reset`: the complete set, at first and after each relist; an object deleted and made again in between is another uid. */
export type ResourceEvent<T> =
  | { readonly kind: 'reset'; readonly items: readonly T[] }
  | { readonly kind: 'put' | 'drop'; readonly item: T };

export interface WatchTarget {
  /** The collection: "/api/v1/pods", "/api/v1/namespaces/x/secrets" */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** Lists and watches one collection. Cold; never errors or completes: bounded watches, bookmarks, an idle watchdog, relist on 410, jittered back-off inside. */
export type Informer = <T extends WatchedObject>(target: WatchTarget) => Observable<ResourceEvent<T>>;

/** Four doors to one API server, so that no traffic class can starve another. */
export interface KubeClients {
  /** Watches, pods' statuses, the node's objects: kubeAPIQPS and kubeAPIBurst. */
  readonly main: KubeApi;
  /** Events: their own QPS and burst. */
  readonly events: KubeApi;
  /** Lease and node status: no limit, timeout = min(lease duration, status frequency). */
  readonly heartbeat: KubeApi;
  /** Reviews of tokens and rights, which any client of the node's server causes: a limit of their own. */
  readonly reviews: KubeApi;
  readonly informer: Informer;
}
