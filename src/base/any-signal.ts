/** A signal that aborts with the first of several, or by itself. Dispose of it when nothing listens to it any more: it lets go of the others. */
export interface AnySignal extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/**
 * For signals of which one outlives the work by far, like the agent's own. AbortSignal.any is for those that end together: in Node 24 what it
 * makes stays in memory, once it has been listened to, until each of its sources is gone.
 */
export function anySignal(...sources: readonly AbortSignal[]): AnySignal {
  const controller = new AbortController();
  const letGo = (): void => {
    for (const source of sources) source.removeEventListener('abort', onAbort);
  };
  const abort = (reason?: unknown): void => {
    letGo();
    controller.abort(reason);
  };
  function onAbort(this: AbortSignal): void {
    abort(this.reason);
  }
  const aborted = sources.find((source) => source.aborted);
  if (aborted) controller.abort(aborted.reason);
  else for (const source of sources) source.addEventListener('abort', onAbort);
  return { signal: controller.signal, abort, [Symbol.dispose]: letGo };
}
