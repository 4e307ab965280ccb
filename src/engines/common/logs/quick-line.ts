import type { UtcTime } from './utc-time.ts';

/** Lines in the very shape in which one engine writes them, read without making anything for each. */
export interface QuickLine {
  readonly stderr: boolean;
  readonly time: UtcTime;
  /** In `out`, after the line's text. */
  readonly outEnd: number;
  /** In `block`, of the next line. */
  readonly next: number;
  /** Reads the line at `at`, and puts its text at `outAt`. False for every line in another shape: then nothing here counts. */
  read(block: Buffer, at: number, end: number, out: Buffer, outAt: number): boolean;
}
