import { isDigit, matches } from './log-bytes.ts';
import type { QuickLine } from './quick-line.ts';
import { UtcTime } from './utc-time.ts';

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

const escapes = new Uint8Array(128);
for (const [char, meant] of Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' })) {
  escapes[char.charCodeAt(0)] = meant.charCodeAt(0);
}

/** Where the parts of a line lie, filled in by each `read`: one object for many lines. */
export class DockerJsonLine implements QuickLine {
  stderr = false;
  outEnd = 0;
  readonly time = new UtcTime();
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
    i = this.time.read(block, i);
    if (i < 0 || !matches(block, i, AFTER_TIME)) return false;
    i += AFTER_TIME.length;
    if (i < end && block[i] !== NEWLINE) return false;
    this.next = Math.min(end, i + 1);
    return i <= end;
  }
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
