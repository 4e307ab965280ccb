/** Called once, when the promise is settled or `signal` has aborted: frees what was taken for it. */
type Release = (aborted: boolean) => void;

/**
 * As `new Promise`, but rejects with the signal's reason as soon as it aborts, and listens to it no longer than until then. Nothing begins
 * where it has aborted already. What comes after the first settling is nothing.
 */
export function abortable<T>(
  signal: AbortSignal,
  begin: (resolve: (value: T) => void, reject: (reason: unknown) => void) => Release | void,
): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    let release: Release | undefined;
    let settled: 'by itself' | 'by abort' | undefined;
    const settle = (by: 'by itself' | 'by abort'): boolean => {
      if (settled !== undefined) return false;
      settled = by;
      signal.removeEventListener('abort', onAbort);
      release?.(by === 'by abort');
      return true;
    };
    const onAbort = (): void => {
      if (settle('by abort')) reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort);
    const fail = (reason: unknown): void => {
      if (settle('by itself')) reject(reason);
    };
    try {
      release =
        begin((value) => {
          if (settle('by itself')) resolve(value);
        }, fail) ?? undefined;
      // Settled before it could say what there is to free.
      if (settled !== undefined) release?.(settled === 'by abort');
    } catch (error) {
      fail(error);
    }
  });
}
