/** One of several that took each other's place: a pod's sandboxes, or the instances of one of its containers. */
export interface Attempted {
  /** Counts up. */
  readonly attempt: number;
  /** By the engine's clock, which may be set back between two of them. */
  readonly createdAtMs: number;
}

/** Sorts the newest first: by number, as a date says less. Dates decide between what has the same number. */
export function newestFirst(a: Attempted, b: Attempted): number {
  return b.attempt - a.attempt || b.createdAtMs - a.createdAtMs;
}
