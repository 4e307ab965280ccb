import type { Writable } from 'node:stream';

/** What may wait in a socket's buffer before its writers wait: enough to keep it busy, and all that a slow reader costs. */
const MAX_WAITING_BYTES = 512 * 1024;

/** The back-pressure of one socket that many streams write to. */
export class WriteGate {
  readonly #socket: Writable;
  #opening: Promise<void> | undefined;

  constructor(socket: Writable) {
    this.#socket = socket;
  }

  get open(): boolean {
    return this.#socket.writableLength < MAX_WAITING_BYTES || this.#socket.destroyed;
  }

  /** Undefined when there is room; else resolves when there is, or the socket has closed. */
  wait(): Promise<void> | undefined {
    const socket = this.#socket;
    if (this.open) return undefined;
    this.#opening ??= new Promise((resolve) => {
      const open = (): void => {
        socket.off('drain', open);
        socket.off('close', open);
        this.#opening = undefined;
        resolve();
      };
      socket.on('drain', open);
      socket.on('close', open);
    });
    return this.#opening;
  }
}
