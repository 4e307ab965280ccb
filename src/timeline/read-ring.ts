import type { Dirent } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../base/error-code.ts';
import { type LineHead, lineHead, parseLine } from './entry-line.ts';
import { belongsTo, segmentsAmong } from './ring-segments.ts';
import { isWanted, type TimelineQuery } from './timeline-query.ts';

/** A line as it is on disk, without its end. */
interface KeptLine extends LineHead {
  readonly line: string;
}

const PIECE_BYTES = 64 * 1024;

/**
 * The lines on disk that are wanted, without their ends, up to that entry; a piece of the disk at a time, oldest first. A piece may have none.
 * Damaged lines are passed over. Segments that are removed meanwhile are left out.
 */
export async function* readRing(directory: string, wanted: TimelineQuery, untilSeq: number): AsyncGenerator<readonly string[]> {
  const fromSeq = wanted.limit === undefined ? 0 : await nthNewest(directory, wanted, untilSeq, wanted.limit);
  for await (const lines of wantedLines(directory, wanted, untilSeq))
    yield lines.flatMap(({ seq, line }) => (seq >= fromSeq ? [line] : []));
}

/** From that number on there are no more than so many. */
async function nthNewest(directory: string, wanted: TimelineQuery, untilSeq: number, limit: number): Promise<number> {
  if (limit === 0) return Number.POSITIVE_INFINITY;
  const newest: number[] = [];
  let count = 0;
  for await (const lines of wantedLines(directory, wanted, untilSeq)) for (const { seq } of lines) newest[count++ % limit] = seq;
  return count < limit ? 0 : (newest[count % limit] ?? 0);
}

async function* wantedLines(directory: string, wanted: TimelineQuery, untilSeq: number): AsyncGenerator<readonly KeptLine[]> {
  const segments = segmentsAmong(await readdir(directory, { withFileTypes: true }).catch(noneIfMissing));
  for (const [index, segment] of segments.entries()) {
    const belongs = belongsTo(segment, segments[index + 1]);
    const path = join(directory, segment);
    const found = await stat(path).catch(undefinedIfMissing);
    if (found === undefined) continue;
    for await (const lines of linesOf(path, found.size))
      yield lines.filter((line) => line.seq <= untilSeq && belongs(line.seq) && isWantedLine(line, wanted));
  }
}

async function* linesOf(path: string, size: number): AsyncGenerator<readonly KeptLine[]> {
  const file = await open(path, 'r').catch(undefinedIfMissing);
  if (file === undefined) return;
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    let rest = Buffer.alloc(0);
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(piece, 0, Math.min(PIECE_BYTES, size - at), at);
      if (bytesRead === 0) return;
      at += bytesRead;
      const bytes = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
      const end = bytes.lastIndexOf('\n') + 1;
      // No line of the timeline's is as long as two pieces.
      rest = bytes.length - end > 2 * PIECE_BYTES ? Buffer.alloc(0) : bytes.subarray(end);
      const texts = bytes.toString('utf8', 0, end).split('\n');
      yield texts.flatMap((line) => {
        const head = lineHead(line);
        return head === undefined ? [] : [{ ...head, line }];
      });
    }
  } finally {
    await file.close();
  }
}

/** Read as JSON only where the text alone does not say no. */
function isWantedLine({ atMs, line }: KeptLine, wanted: TimelineQuery): boolean {
  // Line by line: a clock may have been set back, so that no segment is all from before another.
  if (atMs < (wanted.sinceMs ?? atMs) || atMs > (wanted.untilMs ?? atMs)) return false;
  if (wanted.pod !== undefined && !line.includes(JSON.stringify(wanted.pod).slice(1, -1))) return false;
  const entry = parseLine(line);
  return entry !== undefined && isWanted(entry, wanted);
}

function noneIfMissing(error: unknown): Dirent[] {
  if (isMissingFile(error)) return [];
  throw error;
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissingFile(error)) throw error;
}
