import type { GetEventsOptions } from 'dockerode';
import type { Observable } from 'rxjs';
import type { Clock } from '../../../base/clock.ts';
import { deadline } from '../../../base/deadline.ts';
import type { Logger } from '../../../base/logger.ts';
import { momentOf } from '../../../base/moment.ts';
import type { PodUid } from '../../../model/pod.ts';
import { POD_UID_LABEL } from '../../common/identity/pod-labels.ts';
import { hintsFrom } from '../../common/observe/hints-from.ts';
import { MAX_DELAY_MS, reconnectDelayMs } from '../../common/observe/reconnect-delay.ts';
import type { UnmadeContainers } from '../containers/unmade-containers.ts';
import type { Dialect } from '../client/dialect.ts';
import type { EngineClient } from '../client/engine-client.ts';
import { jsonLines } from '../client/json-lines.ts';

/** What changes how a pod stands. Everything else, above all the exec events of probes, is dropped by the engine. */
const EVENTS = ['start', 'die', 'oom'];
/** A connection that has been silent for so long is opened again: it may be dead. */
const SILENCE_MS = 300_000;

export interface EngineEventsOptions {
  readonly client: EngineClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly unmade: Pick<UnmadeContainers, 'has'>;
}

/**
 * The pods of the engine's events. After a break it goes on from the last event; what the engine has forgotten by then is lost, and some
 * come twice. Cold: a connection for each subscriber. Never errors or completes.
 */
export function engineEvents(options: EngineEventsOptions): Observable<PodUid> {
  return hintsFrom((signal, emit) => follow(options, signal, emit));
}

async function follow(
  { client, clock, random, log, unmade }: EngineEventsOptions,
  signal: AbortSignal,
  emit: (uid: PodUid) => void,
): Promise<void> {
  let sinceMs: number | undefined;
  let failures = 0;
  let warned = false;
  while (!signal.aborted) {
    using within = deadline(clock, Infinity, 'an event', signal);
    const opened = momentOf(clock);
    // By a clock that was set back meanwhile the last event may be still to come, and nothing since.
    const fromMs = sinceMs === undefined ? undefined : Math.min(sinceMs, opened.dateMs);
    try {
      const { events } = await client.dialect(within.signal);
      const stream = await openEvents(client, events, fromMs, within.signal);
      if (warned) log.info('engine events resumed', { failures });
      warned = false;
      sinceMs ??= opened.dateMs;
      within.extend(SILENCE_MS);
      for await (const event of jsonLines(stream)) {
        within.extend(SILENCE_MS);
        const { uid, atMs, removed } = readEvent(event, events.removed);
        sinceMs = atMs ?? sinceMs;
        if (uid !== undefined && (removed === undefined || !unmade.has(removed))) emit(uid);
      }
      throw new Error('the engine closed the stream');
    } catch (error) {
      if (signal.aborted) return;
      if (within.missed) continue;
      // One that breaks off again and again is one trouble: logged once, retried with patience.
      if (clock.monotonicMs() - opened.monotonicMs >= MAX_DELAY_MS) failures = 0;
      if (failures === 0) {
        log.warn('engine events broke off; retrying', { error });
        warned = true;
      }
    }
    const delayMs = reconnectDelayMs(failures++, random);
    await clock.sleep(delayMs, signal).catch(() => undefined);
  }
}

async function openEvents(
  client: EngineClient,
  { removed, byLabel }: Dialect['events'],
  sinceMs: number | undefined,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer | string>> {
  const filters: NonNullable<GetEventsOptions['filters']> = {
    type: ['container'],
    event: [...EVENTS, removed],
    ...(byLabel && { label: [POD_UID_LABEL] }),
  };
  return client.open('GET /events', client.requestTimeoutMs, signal, (docker) =>
    docker.getEvents({ ...(sinceMs !== undefined && { since: sinceMs / 1000 }), filters }),
  );
}

interface EngineEvent {
  readonly uid: PodUid | undefined;
  readonly atMs: number | undefined;
  /** The name of the container that is no more. */
  readonly removed?: string | undefined;
}

function readEvent(event: Readonly<Record<string, unknown>>, removedAs: string): EngineEvent {
  const { Actor: actor, Action: action, timeNano } = event;
  const atMs = typeof timeNano === 'number' ? Math.floor(timeNano / 1e6) : undefined;
  if (!isRecord(actor) || !isRecord(actor['Attributes'])) return { uid: undefined, atMs };
  const { [POD_UID_LABEL]: uid, name } = actor['Attributes'];
  return {
    uid: typeof uid === 'string' ? (uid as PodUid) : undefined,
    atMs,
    removed: action === removedAs && typeof name === 'string' ? name : undefined,
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;
