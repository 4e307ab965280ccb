import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { constants, createDeflate, createInflate } from 'node:zlib';
import { FedDuplex } from '../../src/base/spdy/fed-duplex.ts';
import {
  FLAG_FIN,
  FrameType,
  GoAwayStatus,
  ResetStatus,
  dataFrameHead,
  goAwayFrame,
  pingFrame,
  resetFrame,
  synStreamFrame,
} from '../../src/base/spdy/spdy-frame.ts';
import { SpdyFrameReader } from '../../src/base/spdy/spdy-frame-reader.ts';
import { spdyDictionary } from '../../src/base/spdy/spdy-dictionary.ts';
import { serializeHeaders } from '../../src/base/spdy/spdy-header-block.ts';

/** One stream, as a client sees it: a Duplex that half-closes. */
export class ClientStream extends FedDuplex {
  readonly id: number;
  readonly replied = Promise.withResolvers<void>();
  /** The status of the server's RST_STREAM, if one came. */
  resetWith: number | undefined;
  readonly #socket: Duplex;

  constructor(socket: Duplex, id: number) {
    super({});
    this.#socket = socket;
    this.id = id;
    this.replied.promise.catch(() => {});
  }

  /** RST_STREAM, as a client that wants no more. */
  reset(): void {
    this.#socket.write(resetFrame(this.id, ResetStatus.CANCEL));
    this.destroy();
  }

  /** Everything that the server sends on it, as text. */
  async text(): Promise<string> {
    const chunks: Buffer[] = [];
    this.on('data', (bytes: Buffer) => chunks.push(bytes));
    if (!this.closed && !this.readableEnded) await Promise.race([once(this, 'end'), once(this, 'close')]);
    return Buffer.concat(chunks).toString();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.cork();
    this.#socket.write(dataFrameHead(this.id, bytes.length, false));
    const room = this.#socket.write(bytes);
    this.#socket.uncork();
    if (room || this.#socket.destroyed) done();
    else this.#socket.once('drain', () => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.write(dataFrameHead(this.id, 0, true));
    done();
  }
}

/** A SPDY/3.1 client as Kubernetes' own: compressed headers in one context, no flow control, odd stream numbers. */
export class SpdyClient {
  readonly socket: Duplex;
  readonly streams = new Map<number, ClientStream>();
  /** Status and last stream of the server's GOAWAY. */
  goAway: { readonly lastStreamId: number; readonly status: number } | undefined;
  readonly pings: number[] = [];
  readonly #reader = new SpdyFrameReader();
  readonly #deflate = createDeflate({ dictionary: spdyDictionary() });
  readonly #inflate = createInflate({ dictionary: spdyDictionary(), flush: constants.Z_SYNC_FLUSH });
  #lastId = -1;
  #opening: Promise<unknown> = Promise.resolve();

  constructor(socket: Duplex, head: Buffer = Buffer.alloc(0)) {
    this.socket = socket;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#end());
    this.#inflate.on('data', () => {});
    this.#inflate.on('error', (error) => socket.destroy(error));
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#take(head);
  }

  get closed(): Promise<void> {
    return this.socket.closed ? Promise.resolve() : new Promise((done) => this.socket.once('close', () => done()));
  }

  /** Resolves with the server's SYN_REPLY, rejects when it resets the stream instead. */
  async open(headers: Readonly<Record<string, string>>): Promise<ClientStream> {
    const stream = await this.start(headers);
    await stream.replied.promise;
    return stream;
  }

  /** Sends SYN_STREAM and waits for nothing. */
  start(headers: Readonly<Record<string, string>>): Promise<ClientStream> {
    const started = this.#opening.then(async () => {
      this.#lastId += 2;
      const stream = new ClientStream(this.socket, this.#lastId);
      this.streams.set(stream.id, stream);
      this.socket.write(synStreamFrame(stream.id, await this.headerBlock(headers)));
      return stream;
    });
    this.#opening = started;
    return started;
  }

  /** Blocks of one client have to be sent in the order in which they were made. */
  async headerBlock(headers: Readonly<Record<string, string>>): Promise<Buffer> {
    const parts: Buffer[] = [];
    const take = (bytes: Buffer): unknown => parts.push(bytes);
    this.#deflate.on('data', take);
    this.#deflate.write(serializeHeaders(new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))));
    await new Promise<void>((done) => this.#deflate.flush(constants.Z_SYNC_FLUSH, () => done()));
    this.#deflate.off('data', take);
    return Buffer.concat(parts);
  }

  ping(id: number): void {
    this.socket.write(pingFrame(id));
  }

  /** Leaves as kubectl does: resets, goodbye, close. */
  async close(): Promise<void> {
    for (const stream of this.streams.values()) if (!stream.destroyed) stream.reset();
    this.socket.write(goAwayFrame(0, GoAwayStatus.OK));
    this.socket.end();
    await this.closed;
  }

  #take(chunk: Buffer): void {
    this.#reader.push(chunk);
    for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
      if (frame.kind === 'data') {
        const stream = this.streams.get(frame.streamId);
        const room = stream?.accept(frame.bytes);
        if (frame.fin) stream?.acceptEnd();
        if (room !== undefined) {
          this.socket.pause();
          void room.then(() => this.socket.resume());
        }
      } else this.#control(frame.type, frame.flags, frame.body);
    }
  }

  #control(type: number, flags: number, body: Buffer): void {
    const stream = this.streams.get(body.readUInt32BE(0));
    if (type === FrameType.SYN_REPLY) {
      this.#inflate.write(body.subarray(4));
      stream?.replied.resolve();
      if ((flags & FLAG_FIN) !== 0) stream?.acceptEnd();
    } else if (type === FrameType.RST_STREAM && stream !== undefined) {
      stream.resetWith = body.readUInt32BE(4);
      stream.replied.reject(new Error(`stream reset with status ${stream.resetWith}`));
      stream.acceptEnd();
    } else if (type === FrameType.PING) this.pings.push(body.readUInt32BE(0));
    else if (type === FrameType.GOAWAY) this.goAway = { lastStreamId: body.readUInt32BE(0), status: body.readUInt32BE(4) };
  }

  #end(): void {
    this.#deflate.destroy();
    this.#inflate.destroy();
    for (const stream of this.streams.values()) {
      stream.replied.reject(new Error('connection closed'));
      stream.acceptEnd();
    }
  }
}
