import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import { ApiError, ApiUnreachableError } from '../../model/api-error.ts';
import type { WatchedObject, WatchTarget } from '../../ports/kube-api.ts';
import { apiErrorOf, apiErrorOfStatus } from './api-answer.ts';
import { queryText } from './api-door.ts';
import type { ApiTransport, OpenAnswer } from './api-transport.ts';
import { LineDecoder, LineTooLongError } from './line-decoder.ts';

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

export interface WatchStreamDeps {
  readonly transport: ApiTransport;
  readonly clock: Clock;
  /** How long a watch may be quiet on a connection that is not pinged (HTTP/1.1). */
  readonly idleMs: number;
}

export interface WatchRequest {
  readonly target: WatchTarget;
  /** Events after this one. */
  readonly resourceVersion: string;
  /** After this the server ends the watch. */
  readonly timeoutSeconds: number;
}

/** etcd takes no objects of more than 1.5 MiB; managed fields and escapes make them longer on the wire. */
const MAX_LINE_BYTES = 32 << 20;
const HEADERS_DEADLINE_MS = 30_000;
/** For a server that forgets to end a watch. */
const OVERTIME_MS = 30_000;

/** What came is no watch event: nothing that follows can be relied upon. */
export class WatchEventError extends Error {
  override readonly name = 'WatchEventError';
}

/** A newer client certificate has taken the connection's place: watch on at once, on another one. */
export class ConnectionRetired extends Error {
  override readonly name = 'ConnectionRetired';
}

/**
 * One watch request: its events until the server ends it. Throws ApiError for refusals and ERROR events (410: what came since is
 * forgotten), ApiUnreachableError when it breaks off or goes silent, ConnectionRetired, WatchEventError, the signal's reason when aborted.
 */
export async function* watchStream<T extends WatchedObject>(
  { transport, clock, idleMs }: WatchStreamDeps,
  { target, resourceVersion, timeoutSeconds }: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const { path, fieldSelector, labelSelector } = target;
  const query = queryText({ watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, fieldSelector, labelSelector });
  const request = { client: 'main', method: 'GET', path: `${path}?${query}` } as const;
  const what = `${transport.describe(request)} (watch)`;
  let patienceMs = HEADERS_DEADLINE_MS;
  using within = deadline(clock, patienceMs, what, signal);
  let answer: OpenAnswer | undefined;
  const onRetired = (): void => void answer?.body.destroy();
  try {
    answer = await transport.open(request, within.signal);
    if (answer.status !== 200) throw apiErrorOf(answer, await answer.body.text(), what);
    const { body, retired, watched } = answer;
    if (retired.aborted) throw new ConnectionRetired();
    retired.addEventListener('abort', onRetired, { once: true });
    patienceMs = watched ? timeoutSeconds * 1000 + OVERTIME_MS : idleMs;
    within.extend(patienceMs);
    const lines = new LineDecoder(MAX_LINE_BYTES);
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (!watched) within.extend(idleMs);
      for (const line of lines.push(chunk)) yield eventOf<T>(line, what);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (within.missed) {
      transport.unanswered();
      throw new ApiUnreachableError(`${what}: nothing came for ${patienceMs / 1000} s`, { cause: error });
    }
    if (answer?.retired.aborted === true) throw new ConnectionRetired();
    if (error instanceof LineTooLongError) throw new WatchEventError(`${what}: ${error.message}`, { cause: error });
    // Before there is an answer the transport tells itself what went wrong; later only streams fail.
    if (answer === undefined || error instanceof ApiError || error instanceof WatchEventError) throw error;
    throw transport.unreachable(request, error);
  } finally {
    answer?.retired.removeEventListener('abort', onRetired);
    // Whatever ended the reading: nothing more is wanted. An end that came by itself makes this nothing.
    answer?.body.destroy();
  }
}

function eventOf<T extends WatchedObject>(line: string, what: string): WatchEvent<T> {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new WatchEventError(`${what}: an event is not JSON`, { cause });
  }
  const field = (name: string): unknown => (typeof event === 'object' && event !== null ? Reflect.get(event, name) : undefined);
  const [type, object] = [field('type'), field('object')];
  if (type === 'ERROR') throw apiErrorOfStatus(object, what);
  const known = (['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] as const).find((name) => name === type);
  if (known === undefined || !isWatched(object)) throw new WatchEventError(`${what}: an event of type ${String(type)} is of no use`);
  // That it is a T is the caller's knowledge of the path.
  return { type: known, object: object as T };
}

/** Whether it is an object of the API. */
function isWatched(value: unknown): value is WatchedObject {
  const metadata: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'metadata') : undefined;
  return typeof metadata === 'object' && metadata !== null && typeof Reflect.get(metadata, 'resourceVersion') === 'string';
}
