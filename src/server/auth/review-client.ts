import type { Clock } from '../../base/clock.ts';
import { ApiError, ApiUnreachableError } from '../../model/api-error.ts';
import type { KubeApi } from '../../ports/kube-api.ts';

export interface ReviewClientDeps {
  readonly api: Pick<KubeApi, 'request'>;
  readonly clock: Clock;
  /** Ends what waits, with the server. */
  readonly stop: AbortSignal;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** Delays between attempts (apiserver server/options DefaultAuthWebhookRetryBackoff), less its jitter. */
const RETRY_AFTER_MS: readonly number[] = [500, 750, 1_125, 1_688];

/** Asks the API server for a review, again when it could not answer. Rejects as KubeApi does. */
export async function askReview<T>({ api, clock, stop }: ReviewClientDeps, path: string, review: object): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await api.request<T>({ method: 'POST', path, body: review, timeoutMs: REQUEST_TIMEOUT_MS }, stop);
    } catch (error) {
      const retryAfterMs = RETRY_AFTER_MS[failures];
      if (retryAfterMs === undefined || !isPassing(error)) throw error;
      await clock.sleep(retryAfterMs, stop);
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiUnreachableError || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}
