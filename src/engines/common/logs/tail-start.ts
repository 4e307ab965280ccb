import type { FileHandle } from 'node:fs/promises';

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 << 10;

/**
 * Where the last `lines` lines of a file begin, and how many they are: fewer where the file has no more. A last line without a newline comes on
 * top of them (pkg/util/tail FindTailLineStartIndex).
 */
export async function tailStart(
  file: FileHandle,
  lines: number,
  signal: AbortSignal,
): Promise<{ readonly position: number; readonly lines: number }> {
  const { size } = await file.stat();
  // Small questions are the usual ones, and answered by the end of the file.
  let blockBytes = 4 << 10;
  let newlines = 0;
  for (let right = size; right > 0;) {
    signal.throwIfAborted();
    const left = Math.max(0, right - blockBytes);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(right - left), 0, right - left, left);
    const block = buffer.subarray(0, bytesRead);
    for (let end = block.length; end > 0;) {
      end = block.subarray(0, end).lastIndexOf(NEWLINE);
      if (end >= 0 && newlines++ === lines) return { position: left + end + 1, lines };
    }
    right = left;
    blockBytes = BLOCK_BYTES;
  }
  return { position: 0, lines: newlines };
}
