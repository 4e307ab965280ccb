import { ApiError, isNotFound } from '../../model/api-error.ts';
import type { KubeApi } from '../../ports/kube-api.ts';
import type { CorrelatedEvent } from './event-correlator.ts';

/** Sends what is left of an event, once. A repeat whose event is gone by now (they live for an hour) becomes an event again. */
export async function sendEvent(api: Pick<KubeApi, 'request'>, correlated: CorrelatedEvent, signal: AbortSignal): Promise<void> {
  if (correlated.send === 'nothing') return;
  const { name, namespace } = correlated.event.metadata;
  const path = `/api/v1/namespaces/${namespace}/events`;
  if (correlated.send === 'patch') {
    try {
      await api.request(
        { method: 'PATCH', path: `${path}/${name}`, body: correlated.patch, contentType: 'application/strategic-merge-patch+json' },
        signal,
      );
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  await api.request({ method: 'POST', path, body: correlated.event }, signal);
}

/** Whether the same request may succeed later: the server was not reached, or is overloaded or starting. Anything else it means. */
export function maySucceedLater(error: unknown): boolean {
  return !(error instanceof ApiError) || [429, 502, 503, 504].includes(error.status);
}

/** Whether the refusal is in the nature of things: sent already, or its namespace is going or gone. */
export function isExpectedRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 404 || error.reason === 'AlreadyExists' || error.message.includes('because it is being terminated');
}
