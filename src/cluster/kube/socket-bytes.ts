import { once } from 'node:events';
import type { Socket } from 'node:net';

/** Exactly so many bytes of a socket that has no other reader; what follows them stays in it for the next reader. Rejects with the socket's error. */
export const readExactly = (socket: Socket, size: number): Promise<Buffer> =>
  readBytes(socket, (read) => (read.length < size ? undefined : size));

/** As readExactly: all up to and with `end`. Rejects when it is not found within `maxBytes`. */
export const readUntil = (socket: Socket, end: string, maxBytes: number): Promise<Buffer> =>
  readBytes(socket, (read) => {
    const at = read.indexOf(end);
    if (at >= 0) return at + end.length;
    if (read.length > maxBytes) throw new Error(`its answer is longer than ${maxBytes} bytes`);
    return undefined;
  });

/** `enough` says how many of the bytes read are wanted; undefined: more. */
async function readBytes(socket: Socket, enough: (read: Buffer) => number | undefined): Promise<Buffer> {
  let read = Buffer.alloc(0);
  for (;;) {
    // All there is: a socket that something is left in is readable at once, again and again.
    const bytes = socket.read() as Buffer | null;
    if (bytes === null) {
      await once(socket, 'readable');
      continue;
    }
    read = Buffer.concat([read, bytes]);
    const size = enough(read);
    if (size === undefined) continue;
    if (size < read.length) socket.unshift(read.subarray(size));
    return read.subarray(0, size);
  }
}
