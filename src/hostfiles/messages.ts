import type { SilentFileSystem } from '../ports/host-files.ts';

/** What the agent sends to the process that looks at files for it. */
export type HostFilesRequest =
  | { readonly id: number; readonly task: string; readonly args: unknown }
  /** No caller waits for it any more: no further call is made for it. */
  | { readonly cancel: number };

/** What that process sends. */
export type HostFilesReply =
  | { readonly id: number; readonly result?: unknown }
  | { readonly id: number; readonly error: { readonly message: string; readonly code?: string } }
  /** All file systems that do not answer now. */
  | { readonly silent: readonly SilentFileSystem[] }
  /** Said from time to time while something is under way. */
  | { readonly alive: true };

/** How often it is said. */
export const ALIVE_MS = 5_000;

/** Threads of that process: of each file system that does not answer a few hang, and there may be many. */
export const THREADS = 256;
