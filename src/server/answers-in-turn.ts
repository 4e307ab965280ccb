import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests that may have come on a connection while one is answered. Clients that send more without waiting have nothing good in mind. */
const MOST_WAITING = 2;

/** Answers the requests of a connection one after the other, as net/http does: one that waits starts nothing. */
export class AnswersInTurn {
  /** What waits, for connections on which something is being answered. */
  readonly #waiting = new WeakMap<Duplex, (() => void)[]>();

  /** Whether a request is being answered. */
  isBusy(socket: Duplex): boolean {
    return this.#waiting.has(socket);
  }

  /** Calls `answer` once all earlier ones have been given; never when the connection closes first. */
  take(socket: Duplex, response: ServerResponse, answer: () => void): void {
    if (socket.destroyed) return;
    const begin = (): void => {
      response.once('close', () => this.#next(socket));
      answer();
    };
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      begin();
    } else if (waiting.length < MOST_WAITING) waiting.push(begin);
    else socket.destroy();
  }

  #next(socket: Duplex): void {
    const next = this.#waiting.get(socket)?.shift();
    if (next === undefined || socket.destroyed) this.#waiting.delete(socket);
    else next();
  }
}
