import { anySignal } from '../../base/any-signal.ts';
import type { Clock } from '../../base/clock.ts';
import { deadline } from '../../base/deadline.ts';
import { ApiError, ApiUnreachableError } from '../../model/api-error.ts';
import type { KubeApi } from '../../ports/kube-api.ts';
import type { Asker } from './asker.ts';
import { FairQueue } from './fair-queue.ts';

export interface ReviewClientDeps {
  /** With a rate limit of its own: any client that reaches the server causes reviews. */
  readonly api: Pick<KubeApi, 'request'>;
  readonly clock: Clock;
  /** Ends what waits, with the server. */
  readonly stop: AbortSignal;
}

/** Asks the API server for reviews of tokens and rights. */
export interface ReviewClient {
  /**
   * Asks again when the API server could not answer. Rejects as KubeApi does, when it took too long in all, with QueueFullError when too many
   * reviews are wanted already, and with the asker's reason when that has gone.
   */
  ask<T>(path: string, review: object, asker: Asker): Promise<T>;
}

/** For waiting, all attempts and the delays between them. */
const TOTAL_MS = 10_000;
/** Delays between attempts (apiserver server/options DefaultAuthWebhookRetryBackoff), less its jitter. */
const RETRY_AFTER_MS: readonly number[] = [500, 750, 1_125, 1_688];
/** A fraction of the streams that an API server allows on the connection that all of the agent's requests share. */
const AT_ONCE = 10;
const MOST_WAITING = 250;

export function reviewClient({ api, clock, stop }: ReviewClientDeps): ReviewClient {
  const queue = new FairQueue({ atOnce: AT_ONCE, waiting: MOST_WAITING });
  const send = async <T>(path: string, body: object, signal: AbortSignal): Promise<T> => {
    for (let failures = 0; ; failures++) {
      try {
        return await api.request<T>({ method: 'POST', path, body, timeoutMs: TOTAL_MS }, signal);
      } catch (error) {
        const retryAfterMs = RETRY_AFTER_MS[failures];
        if (retryAfterMs === undefined || !isPassing(error)) throw error;
        await clock.sleep(retryAfterMs, signal);
      }
    }
  };
  return {
    ask: async <T>(path: string, review: object, { peer, signal: own }: Asker) => {
      // In a flood most are refused here, at next to no cost.
      queue.check(peer);
      using either = anySignal(stop, own);
      using within = deadline(clock, TOTAL_MS, 'a review by the API server', either.signal);
      const { signal } = within;
      return await queue.run({ peer, signal }, () => send<T>(path, review, signal));
    },
  };
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiUnreachableError || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}
