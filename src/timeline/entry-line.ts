import type { StreamEntry } from '../model/stream-entry.ts';

/** Of one line on disk, its end included. Entries are a few hundred bytes. */
export const MOST_LINE_BYTES = 64 * 1024;

/** What can be told of a line without reading it as JSON. */
export interface LineHead {
  readonly seq: number;
  readonly atMs: number;
}

const head = /^\{"seq":(\d{1,15}),"atMs":(\d{1,15}),/;

/** An entry as a line of JSON, with its end; number and time come first in it, as in the entry. One that is too long is there without its fields. */
export function entryLine(entry: StreamEntry): string {
  const line = `${JSON.stringify(entry)}\n`;
  // A character is at most 3 bytes.
  if (line.length * 3 <= MOST_LINE_BYTES || Buffer.byteLength(line) <= MOST_LINE_BYTES) return line;
  const { seq, atMs, stream, level, pod, uid } = entry;
  const message = entry.message.slice(0, 1_000);
  return `${JSON.stringify({ seq, atMs, stream, level, message, ...short({ pod, uid }), fields: { leftOutCharacters: line.length } })}\n`;
}

/** Undefined: no line that `entryLine` has made. */
export function lineHead(line: string): LineHead | undefined {
  const [, seq, atMs] = head.exec(line) ?? [];
  return seq === undefined || !line.endsWith('}') ? undefined : { seq: Number(seq), atMs: Number(atMs) };
}

/** Of a line that may be damaged. */
export function parseLine(line: string): StreamEntry | undefined {
  if (lineHead(line) === undefined) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Where the last whole line in these bytes ends that may be there by its number, and which entry it is; undefined: there is none. */
export function lastWholeLine(
  bytes: Buffer,
  belongs: (seq: number) => boolean,
): { readonly end: number; readonly seq: number } | undefined {
  for (let end = bytes.lastIndexOf('\n'); end >= 0;) {
    const before = end === 0 ? -1 : bytes.lastIndexOf('\n', end - 1);
    const entry = parseLine(bytes.toString('utf8', before + 1, end));
    if (entry !== undefined && belongs(entry.seq)) return { end: end + 1, seq: entry.seq };
    end = before;
  }
  return undefined;
}

const short = (names: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(names).flatMap(([name, text]) => (text === undefined ? [] : [[name, text.slice(0, 1_000)]])));
