/** How many connections the server has at a time: docs/adr/0018-strangers-are-few.md. */
export interface ServerLimits {
  /** On the HTTPS port, of clients of whom no request has been let in yet. */
  readonly strangers: number;
  /** On the HTTPS port, of clients that have been let in. Further ones stay strangers. */
  readonly guests: number;
  /** On each port without authentication. */
  readonly unasked: number;
  /** From all port-forwards together to ports of pods. */
  readonly forwarded: number;
}

/** Shares of the files that the agent may have open, so that most are left for pods, engine and cluster; and never more than it can use well. */
export function serverLimits(openFiles: number): ServerLimits {
  const share = (part: number, least: number, most: number): number => Math.min(most, Math.max(least, Math.floor(openFiles / part)));
  return { strangers: share(8, 8, 1_024), guests: share(4, 16, 4_096), unasked: share(16, 8, 512), forwarded: share(8, 8, 4_096) };
}
