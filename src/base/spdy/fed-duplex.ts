import { Duplex, type DuplexOptions } from 'node:stream';

/** A stream whose input is fed from a connection that many share. It emits an error only to those who listen for it. */
export abstract class FedDuplex extends Duplex {
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #peerEnded = false;

  constructor(options: DuplexOptions) {
    super({ ...options, allowHalfOpen: true });
    // A reader or writer sees the failure there; a stream without one yet must not end the process.
    this.on('error', () => {});
  }

  /** The peer will send no more. */
  get peerEnded(): boolean {
    return this.#peerEnded;
  }

  /** Data from the peer. Undefined when more may come; else resolves when it may. Dropped when it can no longer be read. */
  accept(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length === 0 || this.#peerEnded || this.destroyed || this.push(bytes)) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  acceptEnd(): void {
    if (this.#peerEnded || this.destroyed) return;
    this.#peerEnded = true;
    this.push(null);
  }

  override _read(): void {
    this.#wake();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#wake();
    done(error);
  }

  #wake(): void {
    const room = this.#room;
    this.#room = undefined;
    room?.resolve();
  }
}

/** Peers read a frame whole into memory, so no frame is larger. */
const MAX_PIECE_BYTES = 64 * 1024;

/** Sends `bytes` in pieces; `proceed` is called when there is room for more. */
export function sendInPieces(bytes: Buffer, send: (piece: Buffer) => Promise<void> | undefined, proceed: () => void): void {
  let room: Promise<void> | undefined;
  for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) room = send(bytes.subarray(at, at + MAX_PIECE_BYTES));
  if (room === undefined) proceed();
  else void room.then(proceed);
}
