import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { TokenBucket, type TokenRate } from '../../base/token-bucket.ts';
import type { KubeClients } from '../../ports/kube-api.ts';
import type { ApiClientName, Tracing } from '../../ports/tracing.ts';
import { apiDoor } from './api-door.ts';
import { type ApiHappenings, ApiTransport, type SilenceSettings } from './api-transport.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { informerOn } from './informer.ts';

export interface KubeClientsOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly log: Logger;
  /** kubeAPIQPS and kubeAPIBurst; lists and watches take their turn there, too. */
  readonly main: () => TokenRate;
  /** eventRecordQPS and eventBurst. */
  readonly events: () => TokenRate;
  /** min(lease duration, status frequency): how long a heartbeat may take, waits that the server asks for included. */
  readonly heartbeatTimeoutMs: number;
  /** "rxlet/0.1.0 (linux/amd64)" */
  readonly userAgent: string;
  readonly tell: ApiHappenings;
  readonly tracing: Tracing;
  /** See ApiTransportOptions. */
  readonly chaos?: (() => boolean) | undefined;
  /** For tests: how soon silence is noticed. */
  readonly silence?: (SilenceSettings & { readonly idleMs: number }) | undefined;
}

export interface OwnedKubeClients extends KubeClients {
  /** Looks for new credentials at once: when a certificate was rotated, open watches move over to it. */
  refreshCredentials(signal: AbortSignal): Promise<void>;
  /** Ends every connection for good; what is under way fails. */
  close(): Promise<void>;
}

const DEADLINE_MS = 30_000;
const PATIENCE_MS = 60_000;
/** What API servers are asked by default in all (kubeAPIQPS, kubeAPIBurst), once more. */
const REVIEWS: TokenRate = { qps: 50, burst: 100 };
const NO_LIMIT: TokenRate = { qps: 0, burst: 1 };
/** Who asks has a connection open meanwhile. */
const REVIEW_DEADLINE_MS = 10_000;

/** The four doors and the informers, on shared connections. Dials at the first request. */
export function kubeClients(options: KubeClientsOptions): OwnedKubeClients {
  const { access, clock, log, main, events, heartbeatTimeoutMs, userAgent, silence, tell, tracing, chaos } = options;
  const transport = new ApiTransport({ access, clock, log, userAgent, silence, tell, tracing, chaos });
  const door = (client: ApiClientName, bucket: TokenBucket, deadlineMs: number, patienceMs: number) =>
    apiDoor({ client, transport, clock, bucket, deadlineMs, patienceMs });
  const mainBucket = new TokenBucket({ rate: main, clock });
  const api = door('main', mainBucket, DEADLINE_MS, PATIENCE_MS);
  return {
    main: api,
    events: door('events', new TokenBucket({ rate: events, clock }), DEADLINE_MS, PATIENCE_MS),
    heartbeat: door('heartbeat', new TokenBucket({ rate: () => NO_LIMIT, clock }), heartbeatTimeoutMs, heartbeatTimeoutMs),
    reviews: door('reviews', new TokenBucket({ rate: () => REVIEWS, clock }), REVIEW_DEADLINE_MS, REVIEW_DEADLINE_MS),
    informer: informerOn({ api, transport, bucket: mainBucket, clock, log, idleMs: silence?.idleMs }),
    refreshCredentials: (signal) => transport.refreshCredentials(signal),
    close: () => transport.close(),
  };
}
