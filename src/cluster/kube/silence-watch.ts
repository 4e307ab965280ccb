import type { Subscription } from 'rxjs';
import type { Clock } from '../../base/clock.ts';

/** The part of a socket that is needed here. */
export interface WatchedSocket {
  readonly bytesRead: number;
  destroy(error: Error): unknown;
  once(event: 'close', heard: () => void): unknown;
}

export interface SilenceWatchOptions {
  readonly clock: Clock;
  /** How often sockets are looked at. Milliseconds. */
  readonly everyMs: number;
  /** A socket from which so many looks in a row saw nothing new is dead. */
  readonly looks: number;
}

/**
 * Destroys sockets on which nothing arrives any more. A living socket that is added here must never be quiet for that long:
 * HTTP/2 pings see to that. Looks are counted and not time, so that an agent that was stopped for a while does not take that for silence.
 * Timers run only while there is a socket.
 */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  readonly #sockets = new Map<WatchedSocket, { bytesRead: number; quietLooks: number }>();
  #timer: Subscription | undefined;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
  }

  add(socket: WatchedSocket): void {
    this.#sockets.set(socket, { bytesRead: socket.bytesRead, quietLooks: 0 });
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#disarm();
    });
    this.#arm();
  }

  /** Forgets them all. */
  stop(): void {
    this.#sockets.clear();
    this.#disarm();
  }

  #look(): void {
    for (const [socket, seen] of this.#sockets) {
      const { bytesRead } = socket;
      seen.quietLooks = bytesRead === seen.bytesRead ? seen.quietLooks + 1 : 0;
      seen.bytesRead = bytesRead;
      if (seen.quietLooks < this.#options.looks) continue;
      this.#sockets.delete(socket);
      socket.destroy(new Error(`the connection was silent for ${(this.#options.looks * this.#options.everyMs) / 1000} s`));
    }
  }

  #arm(): void {
    this.#timer ??= this.#options.clock.schedule(() => {
      this.#timer = undefined;
      this.#look();
      if (this.#sockets.size > 0) this.#arm();
    }, this.#options.everyMs);
  }

  #disarm(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
  }
}
