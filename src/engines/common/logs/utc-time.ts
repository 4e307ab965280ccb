import { isDigit } from './log-bytes.ts';

/** `2021-02-03T04:05:06` */
const SECOND_BYTES = 19;
/** `2021-02-03T04:05:06.123456789Z ` */
export const TIMESTAMP_BYTES = 31;

/** Where a time of a log line lies in its block, filled in by each `read`: one object for many lines. RFC 3339 in UTC, after the year 100. */
export class UtcTime {
  #at = 0;
  #fractionDigits = 0;

  /** Returns where what follows it is; less than 0 for a time in another shape, or one that does not exist. */
  read(block: Buffer, at: number): number {
    if (!isSecond(block, at)) return -1;
    this.#at = at;
    let i = at + SECOND_BYTES;
    this.#fractionDigits = 0;
    if (block[i] === 0x2e) {
      i++;
      while (isDigit(block[i] ?? 0)) {
        i++;
        this.#fractionDigits++;
      }
      if (this.#fractionDigits === 0 || this.#fractionDigits > 9) return -1;
    }
    return block[i] === 0x5a ? i + 1 : -1;
  }

  /** As `kubectl logs --timestamps` shows it, with a space behind it: TIMESTAMP_BYTES of them. */
  write(block: Buffer, out: Buffer, outAt: number): void {
    const at = this.#at;
    for (let i = 0; i < SECOND_BYTES; i++) out[outAt + i] = block[at + i] ?? 0;
    out[outAt + 19] = 0x2e;
    for (let i = 0; i < 9; i++) out[outAt + 20 + i] = i < this.#fractionDigits ? (block[at + 20 + i] ?? 0) : 0x30;
    out[outAt + 29] = 0x5a;
    out[outAt + 30] = 0x20;
  }

  /** Milliseconds since the epoch, with a fraction. */
  ms(block: Buffer): number {
    const at = this.#at;
    const year = twoDigits(block, at) * 100 + twoDigits(block, at + 2);
    const seconds = Date.UTC(
      year,
      twoDigits(block, at + 5) - 1,
      twoDigits(block, at + 8),
      twoDigits(block, at + 11),
      twoDigits(block, at + 14),
      twoDigits(block, at + 17),
    );
    let nanos = 0;
    for (let i = 0; i < 9; i++) nanos = nanos * 10 + (i < this.#fractionDigits ? (block[at + 20 + i] ?? 0) - 0x30 : 0);
    return seconds + nanos / 1e6;
  }
}

/** Not a number when one is no digit. */
function twoDigits(block: Buffer, at: number): number {
  const [tens, ones] = [block[at] ?? 0, block[at + 1] ?? 0];
  return isDigit(tens) && isDigit(ones) ? tens * 10 + ones - 0x30 * 11 : Number.NaN;
}

function daysIn(month: number, year: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** A point in time that exists, after the year 100. */
function isSecond(block: Buffer, at: number): boolean {
  const century = twoDigits(block, at);
  const year = century * 100 + twoDigits(block, at + 2);
  const month = twoDigits(block, at + 5);
  const day = twoDigits(block, at + 8);
  return (
    century >= 1 &&
    year >= 100 &&
    block[at + 4] === 0x2d &&
    month >= 1 &&
    month <= 12 &&
    block[at + 7] === 0x2d &&
    day >= 1 &&
    day <= daysIn(month, year) &&
    block[at + 10] === 0x54 &&
    twoDigits(block, at + 11) < 24 &&
    block[at + 13] === 0x3a &&
    twoDigits(block, at + 14) < 60 &&
    block[at + 16] === 0x3a &&
    twoDigits(block, at + 17) < 60
  );
}
