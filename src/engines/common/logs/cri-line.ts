import { matches } from './log-bytes.ts';
import type { QuickLine } from './quick-line.ts';
import { UtcTime } from './utc-time.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const PARTIAL = 0x50;
const STD = Buffer.from(' std');
const OUT = Buffer.from('out ');
const ERR = Buffer.from('err ');

/** As a runtime writes them: `2021-02-03T04:05:06.123456789Z stdout F text`. With the tag P the line goes on in the next one. */
export class CriLine implements QuickLine {
  stderr = false;
  readonly time = new UtcTime();
  outEnd = 0;
  next = 0;

  read(block: Buffer, at: number, end: number, out: Buffer, outAt: number): boolean {
    let i = this.time.read(block, at);
    if (i < 0 || !matches(block, i, STD)) return false;
    i += STD.length;
    this.stderr = matches(block, i, ERR);
    if (!this.stderr && !matches(block, i, OUT)) return false;
    i += OUT.length;
    const partial = block[i] === PARTIAL;
    // Tags of more than a letter are rare enough for the slow way.
    if (block[i] === SPACE || block[i + 1] !== SPACE || i + 2 > end) return false;
    i += 2;
    const newline = block.indexOf(NEWLINE, i);
    // An unfinished line is for the slow way as well.
    if (newline < 0 || newline >= end) return false;
    const textEnd = partial ? newline : newline + 1;
    block.copy(out, outAt, i, textEnd);
    this.outEnd = outAt + textEnd - i;
    this.next = newline + 1;
    return true;
  }
}
