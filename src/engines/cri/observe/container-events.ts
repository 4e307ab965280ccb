import { type Observable, share } from 'rxjs';
import type { Clock } from '../../../base/clock.ts';
import { deadline } from '../../../base/deadline.ts';
import { isGrpcError } from '../../../base/grpc/grpc-error.ts';
import type { Logger } from '../../../base/logger.ts';
import { LruMap } from '../../../base/lru-map.ts';
import type { PodUid } from '../../../model/pod.ts';
import { hintsFrom } from '../../common/observe/hints-from.ts';
import { MAX_DELAY_MS, reconnectDelayMs } from '../../common/observe/reconnect-delay.ts';
import { type ContainerEventResponse, RuntimeService } from '../api/runtime_pb.js';
import type { CriClient } from '../client/cri-client.ts';

/** A stream that has been silent for so long is opened again: it may be dead. */
const SILENCE_MS = 300_000;
/** So long a runtime without events is not asked for them again. */
const LISTED_MS = 600_000;
/** Every call has a deadline: the server's own end of a stream that goes on. */
const STREAM_WITHIN_MS = 24 * 3_600_000;
/** So many containers are remembered, for events that do not say whose they are. */
const MAX_CONTAINERS = 2_000;

export interface ContainerEventsDeps {
  readonly client: Pick<CriClient, 'stream'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Taken in place of the events of a runtime that has none. Never errors or completes. */
  readonly listed: Observable<PodUid>;
}

/**
 * The pods of the runtime's events (GetContainerEvents), or those that differ between its listings where it has none. Cold, one stream for all who
 * subscribe. Never errors or completes: what breaks off is opened again. What happens in between is left to the next relist.
 */
export function containerEvents(deps: ContainerEventsDeps): Observable<PodUid> {
  return hintsFrom((signal, emit) => follow(deps, signal, emit)).pipe(share());
}

async function follow(deps: ContainerEventsDeps, signal: AbortSignal, emit: (uid: PodUid) => void): Promise<void> {
  const { clock, random, log } = deps;
  const owners = new LruMap<string, PodUid>(MAX_CONTAINERS);
  let failures = 0;
  let warned = false;
  let saidNone = false;
  while (!signal.aborted) {
    const openedAtMs = clock.monotonicMs();
    const resumed = (): void => {
      if (warned) log.info('container events resumed', { failures });
      warned = false;
    };
    // A runtime says nothing before its first event. A stream that lasts longer than any wait before it is there again: see below.
    const steady = warned ? clock.schedule(resumed, MAX_DELAY_MS) : undefined;
    const onEvent = (event: ContainerEventResponse): void => {
      resumed();
      const uid = ownerOf(event, owners);
      if (uid !== undefined) emit(uid);
    };
    try {
      await stream(deps, signal, onEvent);
      continue;
    } catch (error) {
      if (signal.aborted) return;
      if (isGrpcError(error, 'Unimplemented')) {
        if (!saidNone) log.info('the container runtime has no events: its containers are listed every second');
        saidNone = true;
        await listedForAWhile(deps, signal, emit);
        continue;
      }
      // One that breaks off again and again is one trouble: logged once, retried with patience.
      if (clock.monotonicMs() - openedAtMs >= MAX_DELAY_MS) failures = 0;
      if (failures === 0 && !warned) {
        log.warn('container events broke off; retrying', { error });
        warned = true;
      }
    } finally {
      steady?.unsubscribe();
    }
    await clock.sleep(reconnectDelayMs(failures++, random), signal).catch(() => {});
  }
}

/** Resolves when it was silent for too long. Rejects when it breaks off. */
async function stream(
  { client, clock }: ContainerEventsDeps,
  signal: AbortSignal,
  onEvent: (event: ContainerEventResponse) => void,
): Promise<void> {
  using within = deadline(clock, SILENCE_MS, 'an event', signal);
  try {
    for await (const event of client.stream(RuntimeService.method.getContainerEvents, {}, within.signal, STREAM_WITHIN_MS)) {
      within.extend(SILENCE_MS);
      onEvent(event);
    }
  } catch (error) {
    if (within.missed) return;
    throw error;
  }
  throw new Error('the container runtime closed the stream');
}

/** An event of what has been removed may not say whose it was. */
function ownerOf({ containerId, podSandboxStatus }: ContainerEventResponse, owners: LruMap<string, PodUid>): PodUid | undefined {
  const uid = podSandboxStatus?.metadata?.uid;
  if (!uid) return owners.get(containerId);
  owners.set(containerId, uid as PodUid);
  return uid as PodUid;
}

/** Resolves when it is time to ask for events again: another version of the runtime may have them. */
async function listedForAWhile({ clock, listed }: ContainerEventsDeps, signal: AbortSignal, emit: (uid: PodUid) => void): Promise<void> {
  const listing = listed.subscribe(emit);
  await clock.sleep(LISTED_MS, signal).catch(() => {});
  listing.unsubscribe();
}
