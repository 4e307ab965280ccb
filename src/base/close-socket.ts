import type { Duplex } from 'node:stream';
import type { Subscription } from 'rxjs';
import type { Clock } from './clock.ts';

/** How long a client may take to close its side, once everything was sent. */
const LINGER_MS = 5_000;

export interface CloseTimes {
  /** How long the client may take to receive what waits. 0: as long as it likes. */
  readonly flushMs: number;
  /** How long it may then take to close its side. */
  readonly lingerMs?: number;
}

/**
 * Sends what waits, then closes. What still comes in is read and dropped: a socket closed with unread input is reset, and the reset can
 * overtake the last words; and a socket that nothing reads never sees that the client has gone. Nothing else reads or writes the socket
 * any more. Resolves when it is closed, which the times see to, whatever the client does.
 */
export async function closeSocket(socket: Duplex, clock: Clock, { flushMs, lingerMs = LINGER_MS }: CloseTimes): Promise<void> {
  const closed = whenClosed(socket);
  const cutAfter = (ms: number): Subscription => clock.schedule(() => socket.destroy(), ms);
  const flush = flushMs > 0 ? cutAfter(flushMs) : undefined;
  socket.resume();
  if (!socket.writableEnded) socket.end();
  await whenFinished(socket);
  flush?.unsubscribe();
  const linger = cutAfter(lingerMs);
  await closed;
  linger.unsubscribe();
}

/** Resolves once everything was handed to the system, or never will be. Never rejects. */
export function whenFinished(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableFinished || stream.closed) {
      resolve();
      return;
    }
    const done = (): void => {
      stream.off('finish', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('finish', done);
    stream.on('close', done);
  });
}

/** Never rejects. */
export function whenClosed(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', () => resolve());
  });
}
