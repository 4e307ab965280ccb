import { fstatSync, writeSync } from 'node:fs';
import type { LineDestination } from './pino-logger.ts';
import { UnhurriedLines } from './unhurried-lines.ts';
import { waitForReader } from './wait-for-reader.ts';

const STANDARD_ERROR = 2;

/**
 * Standard error of this process. Where it is a pipe or a socket, no reader holds the process up, whether it hangs or is gone; a file and a
 * terminal are waited for.
 */
export function standardError(): LineDestination {
  const found = fstatSync(STANDARD_ERROR);
  // Node has no call to say that writing shall not wait. Its own stream says it, for the descriptor, when it is made.
  const mayHang = found.isFIFO() || found.isSocket();
  if (mayHang) process.stderr.on('error', () => {});
  const never = new Int32Array(new SharedArrayBuffer(4));
  const lines = new UnhurriedLines({
    put: (bytes) => writeSync(STANDARD_ERROR, bytes),
    later: (work, ms) => void setTimeout(work, ms).unref(),
    pause: (ms) => void Atomics.wait(never, 0, 0, ms),
  });
  process.once('exit', () => {
    lines.end();
    if (mayHang) waitForReader(process.stderr);
  });
  return lines;
}
