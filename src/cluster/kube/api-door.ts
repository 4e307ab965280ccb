import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import { jitter } from '../../base/jitter.ts';
import type { TokenBucket } from '../../base/token-bucket.ts';
import { ApiUnreachableError } from '../../model/api-error.ts';
import type { ApiRequest, KubeApi } from '../../ports/kube-api.ts';
import type { ApiClientName } from '../../ports/tracing.ts';
import { apiErrorOf, jsonOf, retryAfterOf } from './api-answer.ts';
import type { ApiTransport, TransportRequest } from './api-transport.ts';

export interface ApiDoorOptions {
  readonly client: ApiClientName;
  readonly transport: ApiTransport;
  readonly clock: Clock;
  readonly bucket: TokenBucket;
  /** How long one sending may take until its answer is complete. Waiting for credentials and for its turn does not count. */
  readonly deadlineMs: number;
  /** How long to wait in all when the server asks to come again later. */
  readonly patienceMs: number;
}

/** client-go gives up after as many (rest/request.go). */
const MAX_RETRIES = 10;

/** A KubeApi for one class of traffic on the shared connections. */
export function apiDoor(options: ApiDoorOptions): KubeApi {
  return {
    // Whatever a type parameter promises about JSON is the caller's knowledge.
    request: async <T>(request: ApiRequest, signal: AbortSignal) => (await send(options, request, signal)) as T,
    closeConnections: () => options.transport.closeConnections(),
  };
}

async function send(
  { client, transport, clock, bucket, deadlineMs, patienceMs }: ApiDoorOptions,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const wire = toWire(client, request);
  const what = transport.describe(wire);
  await transport.ready(signal);
  let patienceLeftMs = patienceMs;
  let disbelieved = false;
  for (let retries = 0; ; retries++) {
    const askedAtMs = clock.monotonicMs();
    await bucket.acquire(signal);
    transport.waited(wire.method, clock.monotonicMs() - askedAtMs);
    const within = deadline(clock, request.timeoutMs ?? deadlineMs, what, signal);
    let waitMs: number;
    try {
      const answer = await transport.open(wire, within.signal);
      const text = await readText(transport, wire, answer.body, within.signal);
      if (answer.status < 300) return jsonOf(answer, text, what);
      const error = apiErrorOf(answer, text, what);
      if (answer.disbelieved && !disbelieved) {
        disbelieved = true;
        continue;
      }
      const askedMs = answer.status === 429 || answer.status >= 500 ? retryAfterOf(answer.headers) : undefined;
      if (askedMs === undefined || retries >= MAX_RETRIES || askedMs > patienceLeftMs) throw error;
      waitMs = askedMs;
    } catch (error) {
      if (!within.missed) throw error;
      transport.unanswered();
      throw new ApiUnreachableError(`${what}: no answer within ${(request.timeoutMs ?? deadlineMs) / 1000} s`, { cause: error });
    } finally {
      within[Symbol.dispose]();
    }
    patienceLeftMs -= waitMs;
    // Clients that were given the same time should not all come at the same moment.
    await clock.sleep(jitter(waitMs, 0.1), signal);
  }
}

async function readText(
  transport: ApiTransport,
  request: TransportRequest,
  body: { text(): Promise<string> },
  signal: AbortSignal,
): Promise<string> {
  try {
    return await body.text();
  } catch (error) {
    signal.throwIfAborted();
    throw transport.unreachable(request, error);
  }
}

const LEADS_ELSEWHERE = /\/\.{1,2}(?:\/|$)|[?#\s]/;

function toWire(client: ApiClientName, { method, path, query = {}, body, contentType }: ApiRequest): TransportRequest {
  // Names of others' making are parts of it: what a pod calls a claim or a secret.
  if (LEADS_ELSEWHERE.test(path)) throw new Error(`invalid resource name in ${JSON.stringify(path.slice(0, 500))}: it leads elsewhere`);
  const search = queryText(query);
  return {
    client,
    method,
    path: search === '' ? path : `${path}?${search}`,
    body: body === undefined ? undefined : JSON.stringify(body),
    contentType,
  };
}

/** "a=1&b=2", escaped. */
export function queryText(query: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value));
  return search.toString();
}
