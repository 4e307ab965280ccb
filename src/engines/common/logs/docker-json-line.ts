const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;

const BEFORE_LOG = Buffer.from('{"log":"');
const BEFORE_STREAM = Buffer.from('","stream":"std');
const OUT = Buffer.from('out');
const ERR = Buffer.from('err');
const BEFORE_TIME = Buffer.from('","time":"');
const AFTER_TIME = Buffer.from('"}');

/** From here on copying by the runtime is faster than byte by byte. */
const COPY_BYTES = 40;

/** `2021-02-03T04:05:06` */
const SECOND_BYTES = 19;
/** `2021-02-03T04:05:06.123456789Z ` */
export const TIMESTAMP_BYTES = 31;

const escapes = new Uint8Array(128);
for (const [char, meant] of Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' })) {
  escapes[char.charCodeAt(0)] = meant.charCodeAt(0);
}

/** Where the parts of a line lie, filled in by each `read`: one object for many lines. */
export class DockerJsonLine {
  stderr = false;
  /** In `out`, after the line's text. */
  outEnd = 0;
  /** In `block`, of the time's first character, and how many digits its fraction has. */
  timeAt = 0;
  fractionDigits = 0;
  /** In `block`, of the next line. */
  next = 0;

  /**
   * Reads the line at `at` if it has the very shape in which Docker writes them, and puts its text at `outAt`. False for every other line,
   * also for a right one in another shape: then nothing here counts. Byte by byte, as it runs for every line of a log of gigabytes.
   */
  read(block: Buffer, at: number, end: number, out: Buffer, outAt: number): boolean {
    if (!matches(block, at, BEFORE_LOG)) return false;
    let i = at + BEFORE_LOG.length;
    let o = outAt;
    for (;;) {
      const run = i;
      let byte = 0;
      for (; i < end; i++) {
        byte = block[i] ?? 0;
        if (byte === QUOTE || byte === BACKSLASH || byte < 0x20) break;
      }
      if (i - run > COPY_BYTES) block.copy(out, o, run, i);
      else for (let k = run; k < i; k++) out[o + k - run] = block[k] ?? 0;
      o += i - run;
      if (i >= end || byte < 0x20) return false;
      if (byte === QUOTE) break;
      const escape = block[i + 1] ?? 0;
      const meant = escape < 128 ? (escapes[escape] ?? 0) : 0;
      if (meant !== 0) {
        out[o++] = meant;
        i += 2;
        continue;
      }
      const code = escape === 0x75 ? hex4(block, i + 2) : -1;
      // Half of a pair is rare enough for the slow way.
      if (code < 0 || (code >= 0xd800 && code < 0xe000)) return false;
      if (code < 0x80) {
        out[o++] = code;
      } else if (code < 0x800) {
        out[o++] = 0xc0 | (code >> 6);
        out[o++] = 0x80 | (code & 0x3f);
      } else {
        out[o++] = 0xe0 | (code >> 12);
        out[o++] = 0x80 | ((code >> 6) & 0x3f);
        out[o++] = 0x80 | (code & 0x3f);
      }
      i += 6;
    }
    this.outEnd = o;
    return this.#readRest(block, i, end);
  }

  /** From the quote after the text on. */
  #readRest(block: Buffer, at: number, end: number): boolean {
    if (!matches(block, at, BEFORE_STREAM)) return false;
    let i = at + BEFORE_STREAM.length;
    this.stderr = matches(block, i, ERR);
    if (!this.stderr && !matches(block, i, OUT)) return false;
    i += OUT.length;
    if (!matches(block, i, BEFORE_TIME)) return false;
    i += BEFORE_TIME.length;
    if (!isSecond(block, i)) return false;
    this.timeAt = i;
    i += SECOND_BYTES;
    this.fractionDigits = 0;
    if (block[i] === 0x2e) {
      i++;
      while (isDigit(block[i] ?? 0)) {
        i++;
        this.fractionDigits++;
      }
      if (this.fractionDigits === 0 || this.fractionDigits > 9) return false;
    }
    if (block[i] !== 0x5a || !matches(block, i + 1, AFTER_TIME)) return false;
    i += 1 + AFTER_TIME.length;
    if (i < end && block[i] !== NEWLINE) return false;
    this.next = Math.min(end, i + 1);
    return i <= end;
  }

  /** Puts the line's time before its text, as `kubectl logs --timestamps` shows it: TIMESTAMP_BYTES of them. */
  writeTimestamp(block: Buffer, out: Buffer, outAt: number): void {
    for (let i = 0; i < SECOND_BYTES; i++) out[outAt + i] = block[this.timeAt + i] ?? 0;
    out[outAt + 19] = 0x2e;
    for (let i = 0; i < 9; i++) out[outAt + 20 + i] = i < this.fractionDigits ? (block[this.timeAt + 20 + i] ?? 0) : 0x30;
    out[outAt + 29] = 0x5a;
    out[outAt + 30] = 0x20;
  }

  /** Milliseconds since the epoch, with a fraction. */
  timeMs(block: Buffer): number {
    const at = this.timeAt;
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
    for (let i = 0; i < 9; i++) nanos = nanos * 10 + (i < this.fractionDigits ? (block[at + 20 + i] ?? 0) - 0x30 : 0);
    return seconds + nanos / 1e6;
  }
}

function matches(block: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (block[at + i] !== bytes[i]) return false;
  return true;
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

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

function hex4(block: Buffer, at: number): number {
  let code = 0;
  for (let i = 0; i < 4; i++) {
    const byte = block[at + i] ?? 0;
    const lower = byte | 0x20;
    if (isDigit(byte)) code = code * 16 + byte - 0x30;
    else if (lower >= 0x61 && lower <= 0x66) code = code * 16 + lower - 0x61 + 10;
    else return -1;
  }
  return code;
}
