import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errorCode } from './error-code.ts';
import { NoFileError } from './no-file-error.ts';

const A_PAGE = 4096;

/** What a path leads to that is no file, in words. */
const others = [
  ['isDirectory', 'a directory'],
  ['isFIFO', 'a pipe'],
  ['isSocket', 'a socket'],
  ['isCharacterDevice', 'a device'],
  ['isBlockDevice', 'a device'],
] as const;

/**
 * A regular file as UTF-8, never more than `maxBytes` of it in memory. Rejects with NoFileError for what is no file, without waiting for the
 * other end of a pipe; with a sentence for a file that is larger, also one that grows meanwhile; and with the system's error for one that cannot be read.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    // A socket cannot be opened at all.
    throw errorCode(cause) === 'ENXIO' ? new NoFileError('a socket') : cause;
  });
  try {
    const info = await file.stat();
    if (!info.isFile()) throw new NoFileError(others.find(([is]) => info[is]())?.[1] ?? 'something else');
    const tooLarge = (): Error => new Error(`it is larger than ${maxBytes} bytes`);
    if (info.size > maxBytes) throw tooLarge();
    // Of what the kernel makes up when it is read, in /proc and /sys, the size is said to be 0.
    const room = Buffer.alloc(Math.min(Math.max(info.size, A_PAGE), maxBytes) + 1);
    const chunks: Buffer[] = [];
    let total = 0;
    for (;;) {
      const { bytesRead } = await file.read(room, 0, room.length, null);
      if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8');
      total += bytesRead;
      if (total > maxBytes) throw tooLarge();
      chunks.push(Buffer.from(room.subarray(0, bytesRead)));
    }
  } finally {
    await file.close();
  }
}
