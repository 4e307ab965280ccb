import type { PullProgress } from '../ports/image-service.ts';
import { describeProgress } from './describe-progress.ts';

/** A pull reports every half megabyte; people want a line a second. */
const NOTE_INTERVAL_MS = 1000;

export interface PullReporterOptions {
  readonly image: string;
  readonly nowMs: () => number;
  readonly note: (message: string, progress: PullProgress & { readonly msLeft: number | undefined }) => void;
}

/** Turns a pull's progress into notes for people, at most one a second, with an estimate of the time left from the speed so far. */
export class PullReporter {
  readonly #options: PullReporterOptions;
  #first: { readonly atMs: number; readonly bytesDone: number } | undefined;
  #lastNoteMs: number;

  constructor(options: PullReporterOptions) {
    this.#options = options;
    // What is over within a second needs no progress; and at first the engine knows of one layer only.
    this.#lastNoteMs = options.nowMs();
  }

  report(progress: PullProgress): void {
    const atMs = this.#options.nowMs();
    this.#first ??= { atMs, bytesDone: progress.bytesDone };
    if (atMs - this.#lastNoteMs < NOTE_INTERVAL_MS) return;
    this.#lastNoteMs = atMs;
    const msLeft = this.#msLeft(atMs, progress);
    this.#options.note(describeProgress(this.#options.image, progress, msLeft), { ...progress, msLeft });
  }

  #msLeft(atMs: number, { bytes, bytesDone }: PullProgress): number | undefined {
    if (this.#first === undefined) return undefined;
    const tookMs = atMs - this.#first.atMs;
    const came = bytesDone - this.#first.bytesDone;
    if (tookMs < NOTE_INTERVAL_MS || came <= 0 || bytes <= bytesDone) return undefined;
    return Math.round(((bytes - bytesDone) * tookMs) / came);
  }
}
