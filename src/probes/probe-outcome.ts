/** What one execution of a probe gave. A probe that could not be executed throws instead, and says nothing about the container. */
export interface ProbeOutcome {
  readonly result: 'success' | 'warning' | 'failure' | 'unknown';
  /** What the probed one answered, or why it failed. At most 10 KiB. */
  readonly output: string;
}

/** pkg/probe/http and pkg/probe/exec: more of an answer is not kept. */
export const MAX_OUTPUT_BYTES = 10 << 10;
