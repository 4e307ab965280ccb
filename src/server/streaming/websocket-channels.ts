import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../base/clock.ts';
import { errorText } from '../../base/error-text.ts';
import { whenClosed } from '../../base/close-socket.ts';
import { FedDuplex, sendInPieces } from '../../base/spdy/fed-duplex.ts';
import { IdleTimer } from '../../base/spdy/idle-timer.ts';
import { WriteGate } from '../../base/spdy/write-gate.ts';

/** What a channel is for, as the server sees it. What comes on others than `read` and `both` is dropped. */
export type ChannelKind = 'read' | 'write' | 'both' | 'ignore';

export interface WebSocketChannelsOptions {
  /** Text messages of a digit and base64, for clients that know no binary messages. */
  readonly base64: boolean;
  /** v5: the message 255, n closes channel n. */
  readonly closeSignal: boolean;
  /** The connection ends when no message came or went for so long. 0: never. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

/** Of v5.channel.k8s.io (k8s.io/apimachinery/pkg/util/remotecommand StreamClose). */
const CLOSE_SIGNAL = 255;
/** What one channel keeps unread before the whole connection waits. */
const CHANNEL_BUFFER_BYTES = 256 * 1024;

/** One channel of a WebSocket. */
export class WebSocketChannel extends FedDuplex {
  readonly #send: (bytes: Buffer) => Promise<void> | undefined;

  constructor(send: (bytes: Buffer) => Promise<void> | undefined) {
    super({ readableHighWaterMark: CHANNEL_BUFFER_BYTES });
    this.#send = send;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    sendInPieces(bytes, this.#send, done);
  }
}

/** Many streams on one WebSocket: the first byte of each message is the channel's number (k8s.io/apiserver/pkg/util/wsstream). */
export class WebSocketChannels {
  readonly channels: readonly WebSocketChannel[];
  /** Aborts when the connection is over: closed by either side, idle, broken. The reason says which. */
  readonly over: AbortSignal;
  readonly #over = new AbortController();
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #kinds: readonly ChannelKind[];
  readonly #options: WebSocketChannelsOptions;
  readonly #gate: WriteGate;
  readonly #idle: IdleTimer;
  #closing: Promise<void> | undefined;
  #held = 0;

  constructor(webSocket: WebSocket, socket: Duplex, kinds: readonly ChannelKind[], options: WebSocketChannelsOptions) {
    this.over = this.#over.signal;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#kinds = kinds;
    this.#options = options;
    this.#gate = new WriteGate(socket);
    this.channels = kinds.map((_kind, index) => new WebSocketChannel((bytes) => this.send(index, bytes)));
    this.#idle = new IdleTimer(options.clock, options.idleTimeoutMs, () => void this.close('idle for too long'));
    webSocket.on('message', this.#onMessage);
    webSocket.on('ping', () => this.#idle.touch());
    webSocket.on('error', (error) => this.#release(errorText(error)));
    webSocket.on('close', () => this.#release('connection closed'));
    if (socket.destroyed) this.#release('connection closed');
  }

  /** One message, which may be empty. Undefined when more can be sent at once; else resolves when it can. */
  send(channel: number, bytes: Buffer): Promise<void> | undefined {
    const webSocket = this.#webSocket;
    const kind = this.#kinds[channel];
    if (webSocket.readyState !== webSocket.OPEN || kind === 'read' || kind === 'ignore') return undefined;
    this.#idle.touch();
    // In one frame: Go's reader knows no continuations.
    webSocket.send(this.#options.base64 ? `${channel}${bytes.toString('base64')}` : Buffer.concat([Buffer.of(channel), bytes]));
    return this.#gate.wait();
  }

  /** What is kept in memory for this connection, a message that is still arriving aside. */
  get bufferedBytes(): number {
    return this.channels.reduce((sum, channel) => sum + channel.readableLength, this.#socket.readableLength + this.#socket.writableLength);
  }

  /** Sends what waits, says goodbye and closes the socket. Resolves when that is closed. */
  close(reason = 'closed'): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  readonly #onMessage = (data: Buffer): void => {
    this.#idle.touch();
    const { base64, closeSignal } = this.#options;
    const [first, second] = data;
    if (first === undefined) return;
    if (closeSignal && first === CLOSE_SIGNAL) {
      if (second !== undefined) this.channels[second]?.acceptEnd();
      return;
    }
    const index = base64 ? first - '0'.charCodeAt(0) : first;
    const kind = this.#kinds[index];
    if (kind !== 'read' && kind !== 'both') return;
    const payload = data.subarray(1);
    const room = this.channels[index]?.accept(base64 ? decodeBase64(payload) : payload);
    if (room !== undefined) this.#hold(room);
  };

  /** One chunk can hold many messages, so that several wait at a time. */
  #hold(room: Promise<void>): void {
    this.#held++;
    this.#webSocket.pause();
    void room.then(() => {
      this.#held--;
      if (this.#held === 0) this.#webSocket.resume();
    });
  }

  async #close(reason: string): Promise<void> {
    const { clock, idleTimeoutMs } = this.#options;
    const webSocket = this.#webSocket;
    const closed = whenClosed(this.#socket);
    this.#release(reason);
    const cut = idleTimeoutMs > 0 ? clock.schedule(() => webSocket.terminate(), idleTimeoutMs) : undefined;
    // The goodbye has a deadline, which a slow reader of what went before it could miss.
    await this.#flushed();
    webSocket.resume();
    webSocket.close(1000);
    await closed;
    cut?.unsubscribe();
  }

  async #flushed(): Promise<void> {
    const socket = this.#socket;
    while (socket.writableLength > 0 && !socket.destroyed) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off('close', done);
          resolve();
        };
        socket.once('close', done);
        socket.write('', done);
      });
    }
  }

  #release(reason: string): void {
    if (this.over.aborted) return;
    this.#idle.stop();
    this.#webSocket.off('message', this.#onMessage);
    this.#over.abort(new Error(reason));
    for (const channel of this.channels) channel.destroy();
  }
}

/** What is no base64 is dropped. */
function decodeBase64(text: Buffer): Buffer {
  const encoded = text.toString('latin1');
  return /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.alloc(0);
}
