import { closeSync, type Dirent, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { lastWholeLine, MOST_LINE_BYTES } from './entry-line.ts';

/** Under the root directory. */
export const TIMELINE_DIRECTORY = 'timeline';

/** At the end of a segment: there is a whole line, unless something else has written there. */
export const TAIL_BYTES = 2 * MOST_LINE_BYTES;

const DIGITS = 16;
const name = new RegExp(`^\\d{${DIGITS}}\\.ndjson$`);

/** Of the segment whose first entry has this number. Their order by name is the order of what happened. */
export const segmentName = (seq: number): string => `${String(seq).padStart(DIGITS, '0')}.ndjson`;

/** Numbers that are missing in a segment, at most: what a disk does not take is lost, by its number. */
const MOST_AHEAD = 1e9;

/**
 * Whether an entry of this number may be in the segment, and before the `next` one: else its number is damaged. Gone by, it would have others
 * take numbers that there are already, or run out of them.
 */
export function belongsTo(segment: string, next?: string): (seq: number) => boolean {
  const first = Number.parseInt(segment, 10);
  const end = next === undefined ? first + MOST_AHEAD : Number.parseInt(next, 10);
  return (seq) => seq >= first && seq < end;
}

/** Of what is in the directory, oldest first. Whatever is no file of its own is none: a pipe would never end, a link leads elsewhere. */
export const segmentsAmong = (found: readonly Dirent[]): readonly string[] =>
  found.flatMap((each) => (each.isFile() && name.test(each.name) ? [each.name] : [])).toSorted();

/**
 * The number of the last entry that agents before this one have kept; 0: there is none, or it cannot be read. Small and at once: what
 * happens from the first moment on is numbered after it.
 */
export function lastSeq(directory: string): number {
  try {
    for (const segment of segmentsAmong(readdirSync(directory, { withFileTypes: true })).toReversed()) {
      const found = lastWholeLine(tailOf(join(directory, segment)), belongsTo(segment));
      if (found !== undefined) return found.seq;
    }
  } catch {
    // What is wrong with it is reported when it is written.
  }
  return 0;
}

function tailOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(file);
  }
}
