import { Observable } from 'rxjs';
import { anySignal } from '../../base/any-signal.ts';
import type { Clock } from '../../base/clock.ts';
import { exponential } from '../../base/exponential.ts';
import { jitter } from '../../base/jitter.ts';
import type { Logger } from '../../base/logger.ts';
import type { TokenBucket } from '../../base/token-bucket.ts';
import { ApiError, ApiUnreachableError, isGone } from '../../model/api-error.ts';
import type { Informer, KubeApi, ResourceEvent, WatchedObject, WatchTarget } from '../../ports/kube-api.ts';
import type { ApiTransport } from './api-transport.ts';
import { type ListFrom, listAll } from './list-all.ts';
import { ConnectionRetired, WatchEventError, watchStream } from './watch-stream.ts';

export interface InformerDeps {
  /** For lists. */
  readonly api: Pick<KubeApi, 'request'>;
  /** For watches, which take their turn from `bucket`. */
  readonly transport: ApiTransport;
  readonly bucket: TokenBucket;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a watch may be quiet on a connection that is not pinged (HTTP/1.1). Milliseconds. */
  readonly idleMs: number | undefined;
}

// client-go: tools/cache/reflector.go.
const delayMs = exponential(800, 30_000);
const MIN_WATCH_SECONDS = 300;
/** A watch that lasted as long was a good one: the next failure is the first. */
const GOOD_WATCH_MS = 5_000;
/** docs/adr/0006-silent-connections.md: a silent one is noticed and dialled again within 45 s. */
const IDLE_MS = 40_000;
/** Refusals that say nothing about where to watch from: the same watch is tried again. */
const mayPass: ReadonlySet<number> = new Set([401, 403, 429, 503]);
/** A server may ask for any time; a node that does not look for days is of no use to it. */
const MOST_ASKED_MS = 5 * 60_000;
/** When the server is back, not all of a node's watches should ask at the same moment. */
const RETURN_SPREAD_MS = 200;
/** Nor when a new certificate makes them move. */
const MOVE_SPREAD_MS = 2_000;

/** Lists and watches collections of one API server, while subscribed. */
export function informerOn(deps: InformerDeps): Informer {
  return <T extends WatchedObject>(target: WatchTarget) =>
    new Observable<ResourceEvent<T>>((subscriber) => {
      const stop = new AbortController();
      const follow = new Follow<T>(deps, target, (event) => subscriber.next(event));
      follow.run(stop.signal).catch((error: unknown) => {
        // Nothing follows the end; anything else is a fault of this program.
        if (!stop.signal.aborted) subscriber.error(error);
      });
      return () => stop.abort(new Error('the informer has no subscriber'));
    });
}

/** One subscription: list, watch on from there, begin again. */
class Follow<T extends WatchedObject> {
  readonly #deps: InformerDeps;
  readonly #target: WatchTarget;
  readonly #emit: (event: ResourceEvent<T>) => void;
  readonly #log: Logger;
  /** Everything up to here was emitted; empty: list first. */
  #version = '';
  #listFrom: ListFrom = 'any';
  #failures = 0;
  /** The last try got no answer. */
  #away = false;
  #watchingSinceMs: number | undefined;

  constructor(deps: InformerDeps, target: WatchTarget, tell: (event: ResourceEvent<T>) => void) {
    this.#deps = deps;
    this.#target = target;
    this.#emit = tell;
    const { path, fieldSelector } = target;
    this.#log = deps.log.child({ collection: fieldSelector === undefined ? path : `${path} ${fieldSelector}` });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    for (;;) {
      this.#watchingSinceMs = undefined;
      let error: unknown;
      try {
        if (this.#version === '') await this.#list(signal);
        await this.#watch(signal);
      } catch (caught) {
        error = caught;
      }
      signal.throwIfAborted();
      const lasted = this.#watchingSinceMs !== undefined && clock.monotonicMs() - this.#watchingSinceMs >= GOOD_WATCH_MS;
      if (lasted) this.#failures = 0;
      if (error instanceof ConnectionRetired) await clock.sleep(jitter(1, MOVE_SPREAD_MS), signal);
      else if (error !== undefined || !lasted) await this.#recover(error, signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { api } = this.#deps;
    const { items, resourceVersion } = await listAll<T>(api, this.#target, this.#listFrom, signal);
    this.#emit({ kind: 'reset', items });
    this.#version = resourceVersion;
    this.#log.v(4, 'listed', { items: items.length, resourceVersion });
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { transport, bucket, clock, idleMs = IDLE_MS } = this.#deps;
    await bucket.acquire(signal);
    this.#watchingSinceMs = clock.monotonicMs();
    // Spread, so that a restarted server does not get all watches again at one moment ever after.
    const timeoutSeconds = Math.round(jitter(MIN_WATCH_SECONDS, 1));
    const request = { target: this.#target, resourceVersion: this.#version, timeoutSeconds };
    for await (const { type, object } of watchStream<T>({ transport, clock, idleMs }, request, signal)) {
      signal.throwIfAborted();
      if (type === 'DELETED') this.#emit({ kind: 'drop', item: object });
      else if (type !== 'BOOKMARK') this.#emit({ kind: 'put', item: object });
      this.#version = object.metadata.resourceVersion;
    }
  }

  /** Decides what the failure means for the next try, and waits until it is time. */
  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const away = error instanceof ApiUnreachableError;
    // What it answers when it is back has not been tried yet, however long it was away.
    if (this.#away && !away) this.#failures = 0;
    this.#away = away;
    this.#failures++;
    const gone = isGone(error);
    if (this.#version === '') {
      // Also "Too large resource version": the server's storage went back in time.
      if (gone || (error instanceof ApiError && error.status === 504)) this.#listFrom = 'latest';
    } else if (gone || error instanceof WatchEventError || (error instanceof ApiError && !mayPass.has(error.status))) {
      this.#listFrom = { notOlderThan: this.#version };
      this.#version = '';
    }
    const asked = error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, MOST_ASKED_MS) : 0;
    // What is forgotten can be asked for at once, but not over and over.
    const waitMs = gone && this.#failures === 1 ? 0 : Math.max(asked, jitter(delayMs(this.#failures), 1));
    if (gone) this.#log.info('watch history expired on the server, listing again', { waitMs });
    else if (error === undefined) this.#log.v(2, 'watch ended early, retrying', { waitMs });
    else this.#log.warn('list or watch failed, retrying', { error, waitMs });
    await this.#wait(waitMs, away, signal);
  }

  /** Ends early when the server answers other requests again. */
  async #wait(ms: number, unreachable: boolean, signal: AbortSignal): Promise<void> {
    const { clock, transport } = this.#deps;
    if (ms === 0) return;
    using back = anySignal(signal);
    const heard = unreachable ? transport.recovered.subscribe(() => back.abort()) : undefined;
    try {
      await clock.sleep(ms, back.signal);
    } catch {
      signal.throwIfAborted();
      this.#failures = 0;
      await clock.sleep(jitter(1, RETURN_SPREAD_MS), signal);
    } finally {
      heard?.unsubscribe();
    }
  }
}
