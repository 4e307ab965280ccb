/** What one part of the agent keeps over its restarts: a value as JSON has it. */
export interface StateFile<T> {
  /** What was saved last; undefined: nothing, or nothing that can be read, which is logged. */
  load(): T | undefined;
  /** Resolves when it is safe on the disk, also over a crash. Saves that come while one is under way are one. Rejects when it cannot be written. */
  save(value: T): Promise<void>;
}

/** The small files below the root directory that the agent keeps for itself. */
export interface StateFiles {
  /** `decode` returns undefined for what is none of its values. */
  open<T>(name: string, decode: (json: unknown) => T | undefined): StateFile<T>;
}
