const HEADER_BYTES = 8;

export type OutputStream = 'stdout' | 'stderr';

/** The engine reported its own failure in the middle of a container's output. */
export class EngineStreamError extends Error {
  override readonly name = 'EngineStreamError';
}

/**
 * Takes apart what the engine sends of a container without a terminal: frames of one byte for the stream, three of nothing, four for
 * the length, and the bytes. Feed it chunks cut anywhere; pieces are views into them, never copies. Throws EngineStreamError on what is
 * no such stream.
 */
export function demux(onPiece: (stream: OutputStream, bytes: Buffer) => void): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let remaining = 0;
  let failure: Buffer[] | undefined;

  const take = (bytes: Buffer): void => {
    remaining -= bytes.length;
    if (failure === undefined) {
      onPiece(header[0] === 2 ? 'stderr' : 'stdout', bytes);
      return;
    }
    failure.push(bytes);
    if (remaining === 0) throw new EngineStreamError(`error from daemon in stream: ${Buffer.concat(failure).toString()}`);
  };

  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (remaining > 0) {
        const end = Math.min(chunk.length, at + remaining);
        take(chunk.subarray(at, end));
        at = end;
        continue;
      }
      const copied = chunk.copy(header, headerBytes, at, at + HEADER_BYTES - headerBytes);
      at += copied;
      headerBytes += copied;
      if (headerBytes < HEADER_BYTES) return;
      headerBytes = 0;
      remaining = header.readUInt32BE(4);
      const kind = header[0] ?? 0;
      // 3 is the daemon's own voice (github.com/docker/docker/pkg/stdcopy).
      if (kind > 3) throw new EngineStreamError(`unrecognized stream: ${kind}`);
      failure = kind === 3 ? [] : undefined;
    }
  };
}
