/** What one part of the agent keeps over its restarts: a value as JSON has it. */
export interface StateFile<T> {
  /** What was saved last; undefined: nothing, or nothing that can be read, which is logged. */
  load(): T | undefined;
  /** Resolves when it is safe on the disk, also over a crash. Saves that come while one is under way are one. Rejects when it cannot be written. */
  save(value: T): Promise<void>;
}

/** Reads a file's JSON, as of this version of its form; undefined for what is none of its values. */
export interface Decode<T> {
  (json: unknown, version: number): T | undefined;
  /** Of a form of the agent's own: what is written. Absent: the form is Kubernetes', and other programs' files have it, too. */
  readonly version?: number;
}

/**
 * Reads a form of the agent's own, of values that are objects: the file says its version. One that says none is of version 1, an older one is
 * handed to `decode` with its version, a newer one is never read.
 */
export const versioned = <T extends object>(version: number, decode: (json: unknown, version: number) => T | undefined): Decode<T> =>
  Object.assign((json: unknown, of: number) => decode(json, of), { version });

/** The small files below the root directory that the agent keeps for itself. */
export interface StateFiles {
  open<T>(name: string, decode: Decode<T>): StateFile<T>;
}
