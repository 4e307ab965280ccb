import { formatMicroTime } from '../../model/time.ts';
import type { LogOptions, LogPiece } from '../../ports/container-access.ts';
import type { Written } from './fake-console.ts';

const NEWLINE = 0x0a;

/** Which of a container's writes are to be shown, and how, with the kubelet's rules about them. */
export class FakeLogFilter {
  readonly #options: LogOptions;
  #remaining: number;
  #full = false;

  constructor(options: LogOptions) {
    this.#options = options;
    const { limitBytes = -1 } = options;
    this.#remaining = limitBytes >= 0 ? limitBytes : Number.POSITIVE_INFINITY;
  }

  get full(): boolean {
    return this.#full;
  }

  /** The writes from which the last lines begin. */
  tail(log: readonly Written[]): readonly Written[] {
    const lines = log.flatMap(linesOf);
    const { tailLines = -1 } = this.#options;
    if (tailLines < 0) return lines;
    let ends = 0;
    const from = lines.findLastIndex(({ bytes }) => bytes.at(-1) === NEWLINE && ends++ === tailLines);
    return lines.slice(from + 1);
  }

  pieces(written: Written): readonly LogPiece[] {
    const { sinceMs = Number.NEGATIVE_INFINITY, stream: wanted, timestamps } = this.#options;
    const pieces: LogPiece[] = [];
    for (const { atMs, stream, bytes } of linesOf(written)) {
      if (this.#full || atMs < sinceMs || (wanted !== undefined && wanted.toLowerCase() !== stream)) continue;
      const prefix = timestamps ? `${formatMicroTime(atMs).replace('Z', '000Z')} ` : '';
      const allowed = Buffer.concat([Buffer.from(prefix), bytes]).subarray(0, this.#remaining);
      this.#remaining -= allowed.length;
      this.#full = this.#remaining <= 0;
      if (allowed.length > 0) pieces.push({ stream, bytes: allowed });
    }
    return pieces;
  }
}

function linesOf(written: Written): Written[] {
  const lines: Written[] = [];
  for (let at = 0; at < written.bytes.length;) {
    const newline = written.bytes.indexOf(NEWLINE, at);
    const next = newline < 0 ? written.bytes.length : newline + 1;
    lines.push({ ...written, bytes: written.bytes.subarray(at, next) });
    at = next;
  }
  return lines;
}
